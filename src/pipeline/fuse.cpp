// Fuses the primitives of a Plan into few steps.
//
// The one question is which values are stored. A stored value is a step's output; every other image
// is computed inside each step that reads it. Measurements are always stored; the reductions that
// make them join the step that makes or reads their image, and scalars join the step that makes
// their measurements.
#include "pipeline/fuse.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "core/primitive_facts.hpp"
#include "pipeline/cost.hpp"

namespace impipe::pipeline {
namespace {

const Node& node_of(const Step& step) { return step.kernel.nodes.front(); }

template <class T>
bool is(const Node& node) {
  return std::holds_alternative<T>(node.primitive);
}
bool measures(const Node& node) { return facts_of(node).measures; }

Footprint sum(const Footprint& a, const Footprint& b) {
  return {a.left + b.left, a.right + b.right, a.up + b.up, a.down + b.down};
}
Footprint hull(const Footprint& a, const Footprint& b) {
  return {std::max(a.left, b.left), std::max(a.right, b.right), std::max(a.up, b.up),
          std::max(a.down, b.down)};
}

// Which values of a plan somebody reads, directly or not.
std::set<ValueId> live_values(const Plan& plan) {
  std::set<ValueId> live;
  for (const ValueId value : written_images(plan)) live.insert(value);
  for (const PlanCheck& check : plan.checks) live.insert(check.value);
  for (const ValueId value : reported_values(plan)) live.insert(value);
  for (const ValueId value : object_images(plan)) live.insert(value);
  for (auto step = plan.steps.rbegin(); step != plan.steps.rend(); ++step) {
    if (live.contains(step->outputs.front())) live.insert(step->inputs.begin(), step->inputs.end());
  }
  return live;
}

// Steps that compute the same from the same become one: `mean2 | std2` sums once.
Plan without_repeats(const Plan& plan) {
  Plan out = plan;
  std::vector<ValueId> same(plan.values.size());
  for (size_t v = 0; v < same.size(); ++v) same[v] = static_cast<ValueId>(v);
  out.steps.clear();
  // Steps that are kept, by their kernel's key and what they read.
  std::map<std::pair<std::string, std::vector<ValueId>>, std::vector<size_t>> by_key;
  for (Step step : plan.steps) {
    for (ValueId& input : step.inputs) input = same[input];
    const Node& node = node_of(step);
    const auto repeats = [&](size_t s) {
      const Step& other = out.steps[s];
      const PlanValue& value = plan.values[step.outputs.front()];
      return node_of(other).arguments == node.arguments && node_of(other).white == node.white &&
             plan.values[other.outputs.front()].measured_image == value.measured_image;
    };
    std::vector<size_t>& alike = by_key[{step.kernel.key(), step.inputs}];
    const auto first = std::find_if(alike.begin(), alike.end(), repeats);
    if (first != alike.end()) {
      same[step.outputs.front()] = out.steps[*first].outputs.front();
      continue;
    }
    alike.push_back(out.steps.size());
    out.steps.push_back(std::move(step));
  }
  out.result = same[out.result];
  if (out.result_alpha) out.result_alpha = same[*out.result_alpha];
  for (PlanSave& save : out.saves) {
    save.value = same[save.value];
    if (save.alpha) save.alpha = same[*save.alpha];
  }
  for (PlanColumn& column : out.columns) column.value = same[column.value];
  for (PlanCheck& check : out.checks) check.value = same[check.value];
  for (PlanMeasurement& measurement : out.measurements) {
    measurement.value = same[measurement.value];
    if (!measurement.objects) continue;
    ObjectTable& objects = *measurement.objects;
    objects.labels = same[objects.labels];
    if (objects.intensities) objects.intensities = same[*objects.intensities];
    if (objects.records) objects.records = same[*objects.records];
  }
  for (PlanValue& value : out.values) {
    value.measured_image = same[value.measured_image];
    if (value.counted_by) value.counted_by = same[*value.counted_by];
  }
  return out;
}

// A kernel's text contains what a mix of channels reads three times, and a chain of mixes three
// times as much with each.
constexpr double longest_mixed = 16000;

class Fuser {
 public:
  explicit Fuser(const Plan& plan) : plan_(plan), producer_(plan.values.size(), -1) {
    for (size_t s = 0; s < plan_.steps.size(); ++s) {
      producer_[plan_.steps[s].outputs.front()] = static_cast<int>(s);
    }
    // Each step's once, from those of its inputs: two ways to a value at every stage of a long
    // pipeline would be 2^stages ways to follow.
    for (int s = 0; s < static_cast<int>(plan_.steps.size()); ++s) {
      chain_costs_.push_back(chain_cost(s));
      depths_.push_back(depth(s));
    }
  }

  // nests: see fuse.
  Plan run(bool nests) {
    choose_stored();
    if (nests) make_again();
    Plan fused = plan_;
    fused.steps.clear();
    for (const std::vector<int>& members : group_roots()) fused.steps.push_back(build(members));
    return fused;
  }

 private:
  const Step& step(int index) const { return plan_.steps[index]; }
  ValueId output(int index) const { return step(index).outputs.front(); }

  // Why the producer's result can't be an intermediate of this reader; empty when it can.
  std::string obstacle(int producer, int reader) const {
    const Node& from = node_of(step(producer));
    const Node& to = node_of(step(reader));
    for (const Node* node : {&to, &from}) {
      if (stands_alone(node->primitive)) {
        return std::string(name_of(node->primitive)) + " works on a whole image";
      }
    }
    if (facts_of(to).border == Border::circular) return "a circular border needs the whole image";
    const auto* point = std::get_if<Point>(&to.primitive);
    if (point != nullptr && point->mixes_channels && chain_costs_[producer] > longest_mixed) {
      return "all channels of it are needed for each one, and it is much to compute";
    }
    const bool moves = is<Permute>(from) || is<Permute>(to) || is<Window>(from) || is<Window>(to);
    if (moves && !(is<Point>(from) || is<Point>(to))) {
      return "a permutation fuses with point stages only";
    }
    if (point != nullptr && point->lookup) {
      const int table = to.images[1].index;
      if (step(reader).inputs[table] == output(producer)) return "a table is read as a whole";
    }
    return "";
  }

  // The cost of a value and of everything it would be computed from inside one kernel; those of
  // earlier steps are known.
  double chain_cost(int index) const {
    double cost = cost_of(node_of(step(index)));
    for (const ValueId input : step(index).inputs) {
      const int p = producer_[input];
      if (p < 0 || plan_.values[input].is_measure || !obstacle(p, index).empty()) continue;
      cost += chain_costs_[p];
    }
    return std::min(cost, 1e300);  // times a growth of 0 it has to stay 0
  }

  // How many reductions stand one behind the other before this step; those of earlier ones are
  // known.
  int depth(int s) const {
    int deepest = 0;
    for (const ValueId input : step(s).inputs) {
      const int p = producer_[input];
      if (p >= 0) deepest = std::max(deepest, depths_[p] + (measures(node_of(step(p))) ? 1 : 0));
    }
    return deepest;
  }

  // Reductions of one image that don't wait for each other share a kernel: the first stands for
  // all.
  int first_alike(int s) const {
    const ValueId image = step(s).inputs[node_of(step(s)).images.front().index];
    for (int other = 0; other < s; ++other) {
      const Node& node = node_of(step(other));
      if (measures(node) && step(other).inputs[node.images.front().index] == image &&
          depths_[other] == depths_[s]) {
        return other;
      }
    }
    return s;
  }

  // Where a value is made when it is not stored.
  struct Uses {
    std::set<int> roots;  // of the kernels
    Footprint halo;       // what they need around their tiles
    Recomputation at(double cost) const { return {cost, static_cast<int>(roots.size()), halo}; }
  };
  Uses uses_of(ValueId value) const {
    Uses uses;
    for (const int reader : readers_.at(value)) {
      const ValueId read_as = output(reader);
      const std::set<int>& roots = roots_.at(read_as);
      uses.roots.insert(roots.begin(), roots.end());
      const auto halo = halo_.find(read_as);
      const Footprint beyond = halo == halo_.end() ? Footprint{} : halo->second;
      uses.halo = hull(uses.halo, sum(beyond, facts_of(node_of(step(reader))).footprint));
    }
    return uses;
  }

  // Goes from the last step to the first: whether a value is stored depends on its readers.
  void choose_stored() {
    const std::set<ValueId> live = live_values(plan_);
    for (size_t s = 0; s < plan_.steps.size(); ++s) {
      if (!live.contains(output(s))) continue;
      for (const ValueId input : step(s).inputs) readers_[input].push_back(static_cast<int>(s));
    }
    for (int s = static_cast<int>(plan_.steps.size()) - 1; s >= 0; --s) {
      const ValueId value = output(s);
      if (!live.contains(value)) continue;
      const Node& node = node_of(step(s));
      if (node.is_measure) {
        roots_[value] = {measures(node) ? first_alike(s) : s};
        continue;
      }
      std::string reason;
      const std::vector<ValueId> objects = object_images(plan_), written = written_images(plan_);
      if (std::find(objects.begin(), objects.end(), value) != objects.end() ||
          std::find(written.begin(), written.end(), value) != written.end()) {
        reason = "its result is written";
      }
      for (const int reader : readers_[value]) {
        if (reason.empty()) reason = obstacle(s, reader);
      }
      const Uses uses = uses_of(value);
      if (reason.empty() && !better_recomputed(uses.at(chain_costs_[s]), cost_of_storing(node))) {
        by_cost_.insert(s);
        reason = uses.roots.size() > 1
                     ? std::to_string(uses.roots.size()) +
                           " steps read it, and storing is cheaper than computing it again"
                     : "computing its halo again costs more than storing";
      }
      if (reason.empty()) {
        roots_[value] = uses.roots;
        halo_[value] = uses.halo;
      } else {
        stored_[value] = reason;
        roots_[value] = {s};
      }
    }
  }

  // A neighbourhood of values that turned out to be stored costs itself alone where it is made
  // again, not all that these are computed from.
  void make_again() {
    for (auto it = by_cost_.rbegin(); it != by_cost_.rend(); ++it) {
      const Node& node = node_of(step(*it));
      const ValueId value = output(*it);
      const bool from_stored = std::ranges::all_of(step(*it).inputs, [&](ValueId input) {
        return producer_[input] < 0 || plan_.values[input].is_measure || stored_.contains(input);
      });
      const Uses uses = uses_of(value);
      if (!from_stored || !facts_of(node).reads_around ||
          !better_recomputed(uses.at(cost_of(node)), cost_of_storing(node))) {
        continue;
      }
      stored_.erase(value);
      roots_[value] = uses.roots;
      halo_[value] = uses.halo;
    }
  }

  bool is_root(int s) const {
    const ValueId value = output(s);
    return roots_.contains(value) && (plan_.values[value].is_measure || stored_.contains(value));
  }

  // Whether step `s` needs, directly or not, a result of one of `others`, which are in order. seen:
  // steps that were looked at.
  bool depends(int s, const std::vector<int>& others, std::set<int>& seen) const {
    for (const ValueId input : step(s).inputs) {
      const int p = producer_[input];
      // What comes before all of them needs none of them.
      if (p < 0 || others.empty() || p < others.front() || !seen.insert(p).second) continue;
      if (std::find(others.begin(), others.end(), p) != others.end() || depends(p, others, seen)) {
        return true;
      }
    }
    return false;
  }

  // Whether all measurements that `s` reads, directly or through unstored images, are made by
  // steps before `place`. seen: steps that were looked at.
  bool ready_at(int s, int place, std::set<int>& seen) const {
    for (const ValueId input : step(s).inputs) {
      const int p = producer_[input];
      if (p < 0 || !seen.insert(p).second) continue;
      if (plan_.values[input].is_measure || stored_.contains(input)) {
        if (p >= place && p != place) return false;
      } else if (!ready_at(p, place, seen)) {
        return false;
      }
    }
    return true;
  }

  // The steps of the fused plan: each a list of roots, in an order that respects dependencies.
  std::vector<std::vector<int>> group_roots() const {
    std::vector<std::vector<int>> groups;
    for (int s = 0; s < static_cast<int>(plan_.steps.size()); ++s) {
      if (!is_root(s)) continue;
      const Node& node = node_of(step(s));
      bool joined = false;
      if (measures(node) && !stands_alone(node.primitive)) {
        const ValueId image = step(s).inputs[node.images.front().index];
        for (std::vector<int>& group : groups) {
          const Node& first = node_of(step(group.front()));
          if (stands_alone(first.primitive)) continue;
          const bool makes_it = output(group.front()) == image;
          const bool reads_it =
              measures(first) && step(group.front()).inputs[first.images.front().index] == image;
          if (!makes_it && !reads_it) continue;
          std::vector<int> sinks(group.begin() + (makes_it ? 1 : 0), group.end());
          std::set<int> before, unready;
          if (depends(s, sinks, before) || !ready_at(s, group.front(), unready)) continue;
          group.push_back(s);
          joined = true;
          break;
        }
      }
      for (std::size_t g = 0; g < groups.size() && !joined; ++g) {
        joined = ends(s, groups[g]) || computes_beside(s, groups, g);
        if (joined) groups[g].push_back(s);
      }
      if (!joined) groups.push_back({s});
    }
    return groups;
  }

  // Whether `s` computes with measurements of these steps, and with nothing that comes later. One
  // that takes the values of several channels waits for all planes of an image: it stands apart.
  bool ends(int s, const std::vector<int>& group) const {
    if (!is<Scalar>(node_of(step(s)))) return false;
    bool reads = false;
    for (const ValueId input : step(s).inputs) {
      const int p = producer_[input];
      if (p < 0 || p < group.front()) continue;
      if (std::find(group.begin(), group.end(), p) == group.end()) return false;
      if (plan_.values[input].channels != node_of(step(s)).channels) return false;
      reads = true;
    }
    return reads;
  }

  // Whether all of group g, and `s`, only compute with measurements that groups before it make.
  bool computes_beside(int s, const std::vector<std::vector<int>>& groups, std::size_t g) const {
    const auto computes = [&](int member) {
      const Node& node = node_of(step(member));
      return is<Scalar>(node) && node.channels == node_of(step(s)).channels;
    };
    if (!computes(s) || !std::all_of(groups[g].begin(), groups[g].end(), computes)) return false;
    const auto is_before = [&](ValueId input) {
      const int p = producer_[input];
      return p < 0 || std::any_of(groups.begin(), groups.begin() + static_cast<std::ptrdiff_t>(g),
                                  [&](const std::vector<int>& group) {
                                    return std::find(group.begin(), group.end(), p) != group.end();
                                  });
    };
    return std::all_of(step(s).inputs.begin(), step(s).inputs.end(), is_before);
  }

  Step build(const std::vector<int>& members) const {
    Step fused;
    std::map<ValueId, int> place;  // unstored or member value -> node index
    std::set<int> stages;
    for (const int member : members) {
      add_node(member, members, fused, place, stages);
      fused.kernel.outputs.push_back(place.at(output(member)));
      fused.outputs.push_back(output(member));
    }
    fused.stages.assign(stages.begin(), stages.end());
    fused.apart = why_apart(fused);
    return fused;
  }

  int external(ValueId value, Step& fused) const {
    const auto it = std::find(fused.inputs.begin(), fused.inputs.end(), value);
    if (it != fused.inputs.end()) return static_cast<int>(it - fused.inputs.begin());
    const PlanValue& v = plan_.values[value];
    fused.kernel.inputs.push_back({v.is_measure, v.type.cls, v.channels, v.type.white, v.values});
    fused.inputs.push_back(value);
    return static_cast<int>(fused.inputs.size()) - 1;
  }

  // A step whose node is made: its operands before `next` are those of the fused kernel.
  struct Unfinished {
    int step;
    Node node;
    std::size_t next = 0;

    impipe::Operand& operand() {
      return next < node.images.size() ? node.images[next]
                                       : node.measures[next - node.images.size()];
    }
    bool done() const { return next == node.images.size() + node.measures.size(); }
  };

  bool is_inside(const Unfinished& user, ValueId value, const std::vector<int>& members) const {
    const int p = producer_[value];
    if (p < 0) return false;
    const bool member = std::find(members.begin(), members.end(), p) != members.end();
    if (plan_.values[value].is_measure) return member && is<Scalar>(user.node);
    return member || !stored_.contains(value);
  }

  // The node of step s, after those of the steps inside the kernel that it reads. The steps that
  // wait for one are kept apart from the call stack: a pipeline may have a thousand.
  void add_node(int s, const std::vector<int>& members, Step& fused, std::map<ValueId, int>& place,
                std::set<int>& stages) const {
    if (place.contains(output(s))) return;
    std::vector<Unfinished> open{{.step = s, .node = node_of(step(s))}};
    while (!open.empty()) {
      Unfinished& top = open.back();
      if (top.done()) {
        const Step& made = step(top.step);
        place[output(top.step)] = static_cast<int>(fused.kernel.nodes.size());
        stages.insert(made.stages.begin(), made.stages.end());
        fused.kernel.nodes.push_back(std::move(top.node));
        open.pop_back();
        continue;
      }
      impipe::Operand& operand = top.operand();
      const ValueId value = step(top.step).inputs[operand.index];
      const bool inside = is_inside(top, value, members);
      if (inside && !place.contains(value)) {
        const int p = producer_[value];
        open.push_back({.step = p, .node = node_of(step(p))});
        continue;
      }
      operand = inside ? impipe::Operand{false, place.at(value)}
                       : impipe::Operand{true, external(value, fused)};
      ++top.next;
    }
  }

  std::string why_apart(const Step& fused) const {
    std::string barrier;
    for (const ValueId input : fused.inputs) {
      if (const auto it = stored_.find(input); it != stored_.end()) return it->second;
      if (plan_.values[input].is_measure && producer_[input] >= 0)
        barrier = "it needs a measurement of the whole image";
    }
    return barrier;
  }

  const Plan& plan_;
  std::vector<int> producer_;
  std::map<ValueId, std::vector<int>> readers_;
  std::vector<double> chain_costs_;         // one a step
  std::vector<int> depths_;                 // one a step
  std::map<ValueId, std::string> stored_;   // images: value -> why
  std::set<int> by_cost_;                   // steps whose images could be made again
  std::map<ValueId, std::set<int>> roots_;  // the roots whose kernels compute the value
  std::map<ValueId, Footprint> halo_;       // of unstored images
};

}  // namespace

Plan fuse(const Plan& plan, bool nests_neighbourhoods) {
  const Plan once = without_repeats(plan);
  return Fuser(once).run(nests_neighbourhoods);
}

Plan without_unread(const Plan& plan) {
  const std::set<ValueId> live = live_values(plan);
  Plan out = plan;
  std::erase_if(out.steps, [&](const Step& s) { return !live.contains(s.outputs.front()); });
  return out;
}

}  // namespace impipe::pipeline
