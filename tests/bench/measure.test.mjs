// The arithmetic of the benchmarks: figures are only worth as much as it.
import { describe, expect, it } from 'vitest';
import { climb, inTurn, median, rateAt, recall } from '../../bench/lib/measure.mjs';
import { ratioTable } from '../../bench/lib/report.mjs';
import { exactNeighbours } from '../../bench/web/truth.mjs';

const step = (setting, found, rate) => ({ setting, recall: found, qps: { median: rate } });

describe('measure', () => {
  it('takes the middle of an odd and of an even number of rounds', () => {
    expect(median([30, 10, 20])).toBe(20);
    expect(median([4, 1, 3, 2])).toBe(2.5);
  });

  it('turns the order round every second time', () => {
    expect([0, 1, 2].map((round) => inTurn(['a', 'b', 'c'], round).join(''))).toEqual(['abc', 'cba', 'abc']);
  });

  it('counts what was found of each query, in any order, and nothing twice', () => {
    const truth = Int32Array.of(1, 2, 3, 4);
    expect(recall([2, 1, 4, 9], truth, 2)).toBe(0.75);
    expect(recall([3, 4, 1, 2], truth, 2)).toBe(0); // the answers of another query
    expect(recall([-1, -1, 3, -1], truth, 2)).toBe(0.25);
    expect(recall([1, 1, 3, 3], truth, 2)).toBe(0.5);
  });

  it('interpolates a rate between two steps of a ladder', () => {
    const ladder = [step(10, 0.8, 1000), step(20, 0.9, 100)];
    expect(rateAt(ladder, 0.85)).toBeCloseTo(Math.sqrt(1000 * 100));
    expect(rateAt(ladder, 0.9)).toBeCloseTo(100);
    expect(rateAt(ladder, 0.7)).toBe(1000);
    expect(rateAt(ladder, 0.95)).toBeNull();
  });

  it('takes a later step that is quicker', () => {
    expect(rateAt([step(10, 0.95, 100), step(20, 0.94, 150), step(40, 0.99, 900)], 0.9)).toBe(900);
  });

  it('climbs each ladder to its end, or until enough is found', async () => {
    const truth = Int32Array.of(5);
    const asked = [];
    const search = async (peer, setting) => {
      asked.push(`${peer.name}${setting}`);
      return { seconds: 0.5, ids: [peer.name === 'quick' || setting >= 40 ? 5 : 6] };
    };
    const ladder = [10, 20, 40, 70];
    const peers = [{ name: 'quick', ladder }, { name: 'slow', ladder }, { name: 'some', ladder: [30] }];
    const [quick, slow, some] = await climb(peers, 1, { truth, k: 1 }, search);
    expect(quick.map(({ setting }) => setting)).toEqual([10]);
    expect(slow.map(({ setting, recall: found }) => [setting, found])).toEqual([[10, 0], [20, 0], [40, 1]]);
    expect(some.map(({ setting }) => setting)).toEqual([30]);
    expect(quick[0].qps).toEqual({ median: 2, rounds: [2] });
    expect(asked.filter((call) => call === 'slow20')).toHaveLength(2); // one round warms up
  });
});

describe('truth of a prefix', () => {
  const rows = Float32Array.of(0, 1, 10, 0, 3, 3, 0, 1);
  const query = Float32Array.of(1, 0);
  it.each([
    ['l2', [0, 3]],
    ['cosine', [1, 2]],
    ['dot', [1, 2]],
  ])('is the nearest by %s, ties by row number', (metric, expected) => {
    expect([...exactNeighbours(rows, query, 2, metric, 2)]).toEqual(expected);
  });

  it('does not take a long row for a near one under cosine', () => {
    expect([...exactNeighbours(Float32Array.of(100, 90, 1, 0), query, 2, 'cosine', 1)]).toEqual([1]);
  });
});

describe('the table of ratios', () => {
  const peer = (name, seconds, rate) => ({
    name,
    build_seconds: { median: seconds },
    at_recall: { 0.9: rate, 0.95: rate, 0.98: rate, 0.99: name === 'b' ? null : rate },
  });
  it('divides times by ours and our rates by theirs; a recall that one does not reach is left out', () => {
    const results = { one: { peers: [peer('b', 9, 100), peer('a', 3, 250)] }, other: { peers: [peer('a', 1, 1)] } };
    const rows = ratioTable(results, ['a', 'b']).split('\n');
    expect(rows).toHaveLength(3); // head, rule and the set that both have
    expect(rows[2].split('|').map((cell) => cell.trim())).toEqual(['', 'one', '3.0 ×', '2.5 ×', '2.5 ×', '2.5 ×', '–', '']);
  });
});
