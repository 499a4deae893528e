#include "backends/jit/choose/chooser.hpp"

#include <algorithm>
#include <cmath>

#include "backends/jit/pixel/pixel.hpp"

namespace impipe::jit {

Choice cheapest(const FormQuestion& question) {
  const Tuning& tuning = question.context.tuning;
  Choice best;
  const auto is_better = [&](const FormCost& cost, const FormCost& than) {
    const bool named = cost.form == tuning.variant.form, other = than.form == tuning.variant.form;
    return named != other ? named : cost.microseconds < than.microseconds;
  };
  const bool by_pixels = !tuning.fast && pixels_form.offer(question).veto.empty();
  for (const FormRow* row : all_forms()) {
    if (by_pixels && row != &pixels_form) continue;
    Offer offer = row->offer(question);
    if (!offer.veto.empty()) continue;
    // Kernels of a family read planes alone.
    if (std::holds_alternative<FamilyForm>(offer.form) &&
        !question.planes.has(question.node().images[0])) {
      continue;
    }
    const FormCost cost{row->name, microseconds(offer.work, tuning)};
    const auto at = std::ranges::upper_bound(best.costs, cost, is_better);
    if (at == best.costs.begin()) {
      best.row = row;
      best.offer = std::move(offer);
    }
    best.costs.insert(at, cost);
  }
  return best;
}

std::string Choice::reason() const {
  if (costs.size() < 2) return offer.reason;
  const auto us = [](const FormCost& cost) {
    return std::to_string(std::lround(cost.microseconds)) + " us";
  };
  return offer.reason + ", " + us(costs[0]) + "; next " + std::string(costs[1].form) + ", " +
         us(costs[1]);
}

}  // namespace impipe::jit
