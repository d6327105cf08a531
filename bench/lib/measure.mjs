// What both benchmarks, native and in the page, mean by a round, a recall and a rate.

/** Recalls at which rates are compared. */
export const recalls = [0.9, 0.95, 0.98, 0.99];

/** A ladder ends at the first step that reaches this. */
export const enough = 0.995;

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** All rounds and their median. */
export const summary = (rounds) => ({ median: median(rounds), rounds });

/** The order of a round: every second one goes the other way, so that nobody is always first. */
export const inTurn = (peers, round) => (round % 2 ? [...peers].reverse() : peers);

/** The share of the true k nearest that is among the k found, over all queries. */
export function recall(found, truth, k) {
  let hits = 0;
  for (let at = 0; at < truth.length; at += k) {
    const wanted = new Set(truth.subarray(at, at + k));
    for (let i = at; i < at + k; ++i) hits += wanted.delete(found[i]) ? 1 : 0;
  }
  return hits / truth.length;
}

/** Steps by `ef`, and by the expected recall in thousandths, which is what a search of Nearfield is told by default. */
export const efs = [10, 20, 40, 70, 100, 150, 200, 300, 400, 600, 800];
export const targets = [800, 900, 930, 950, 965, 980, 985, 990, 993, 995, 997, 999];

/**
 * Climbs the peers' ladders, each its own `ladder` of settings: at each step they take turns, a first round warms up,
 * and the median counts. Whoever reaches `enough`, or the end, climbs no further. `search(peer, setting)` resolves to
 * `{ seconds, ids }` for all queries. Returns what each step came to for each peer, in their order.
 */
export async function climb(peers, rounds, { truth, k }, search) {
  const queries = truth.length / k;
  const steps = new Map(peers.map((peer) => [peer, []]));
  let climbing = peers;
  for (let i = 0; climbing.length > 0; ++i) {
    const here = climbing;
    const taken = new Map(here.map((peer) => [peer, { rates: [], ids: null }]));
    for (let round = 0; round <= rounds; ++round) {
      for (const peer of inTurn(here, round)) {
        const { seconds, ids } = await search(peer, peer.ladder[i]);
        const { rates } = taken.get(peer);
        taken.get(peer).ids = ids;
        if (round > 0) rates.push(queries / seconds);
      }
    }
    for (const [peer, { rates, ids }] of taken) {
      steps.get(peer).push({ setting: peer.ladder[i], recall: recall(ids, truth, k), qps: summary(rates) });
    }
    climbing = climbing.filter((peer) => i + 1 < peer.ladder.length && steps.get(peer).at(-1).recall < enough);
  }
  return [...steps.values()];
}

/**
 * The most queries a second at a recall or above it: at a step of the ladder, or between two steps, where the logarithm
 * of the rate is linear in recall. Null when the ladder does not reach it.
 */
export function rateAt(ladder, wanted) {
  const rates = ladder.map((step, i) => {
    if (step.recall < wanted) return 0;
    const below = ladder[i - 1];
    if (!below || below.recall >= wanted) return step.qps.median;
    const share = (wanted - below.recall) / (step.recall - below.recall);
    const between = Math.log(below.qps.median) * (1 - share) + Math.log(step.qps.median) * share;
    return Math.max(step.qps.median, Math.exp(between));
  });
  return Math.max(...rates) || null;
}
