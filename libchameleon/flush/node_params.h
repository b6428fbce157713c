// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The parts of nodes that classes and shipments use: parameters by their readings, and what is
/// inexact.

#include <vector>

#include "base/bytes.h"
#include "flush/filter.h"
#include "format/codec.h"
#include "model/trace.h"

namespace chameleon::flush {

/// In a plan: the number of unsuccessful polls, and nothing else. The nodes of the calls that poll
/// say that their events are inexact.
inline constexpr std::uint32_t kInexactPolls = kInexactAll + 1;

/// A partner that is rank 0 every time is taken for a root, which ranks share.
inline bool always_rank_zero(const Param& param) {
  return param.values().is_constant() && packed_absolute(param.values().front()) == 0;
}

/// Calls f(param, reading of `relative`, reading of `mixed`) on every end-point
/// of nodes of one rank, and g(param, kind) on everything else.
template <class Nodes, class F, class G>
void each_param(Nodes& nodes, const Trace& trace, F end_point, G other) {
  for (auto& node : nodes) {
    if (node.is_loop()) {
      other(node.iterations, ValueKind::kIterations);
      each_param(node.body, trace, end_point, other);
      continue;
    }
    const auto call = trace.calls.find(node.call);
    for (std::size_t i = 0; i < node.params.size(); ++i) {
      auto& param = node.params[i];
      const bool known = call != trace.calls.end() && i < call->second.fields.size();
      if (!known || call->second.fields[i].stored != FieldKind::kEndPoint) {
        other(param, known ? kind_of(call->second.fields[i]) : ValueKind::kOther);
        continue;
      }
      const bool root = call->second.fields[i].kind == "root";
      end_point(
          param, root ? EndPointForm::kAbsolute : EndPointForm::kRelative,
          root || always_rank_zero(param) ? EndPointForm::kAbsolute : EndPointForm::kRelative);
    }
  }
}

inline void encode_inexact(ByteWriter& writer, const std::vector<Inexact>& list) {
  writer.varint(list.size());
  for (const Inexact& one : list) {
    writer.varint(one.kinds);
    one.ranks.encode(writer);
  }
}

inline bool decode_inexact(ByteReader& reader, std::vector<Inexact>& list) {
  list.resize(reader.count(2));
  for (Inexact& one : list) {
    one.kinds = static_cast<std::uint32_t>(reader.varint());
    if (!RankList::decode(reader, one.ranks)) return false;
  }
  return reader.ok();
}

}  // namespace chameleon::flush
