import type { RunResult } from './run-once.ts';

/** A table of runs; with more than one run of each kind also the comparison of all of them together. */
export function tableOf(results: readonly RunResult[]): string {
  const rows = results.map((result) => rowOf(result.withBad ? 'with' : 'without', result));
  const sums = [false, true].flatMap((withBad) => {
    const all = results.filter((result) => result.withBad === withBad);
    return all.length < 2 ? [] : [pooledRow(withBad, all)];
  });
  return [
    '| bad ones | changes | p50 ms | p90 ms | p99 ms | max ms | passes good / failing / hot | CPU s | event loop p99 ms |',
    '| --- | --- | --- | --- | --- | --- | --- | --- | --- |',
    ...rows,
    ...sums,
    ...verdict(results),
  ].join('\n');
}

function rowOf(name: string, { latenciesMs, passes, cpuSeconds, loopDelayP99Ms }: RunResult) {
  const at = (fraction: number) => quantile(latenciesMs, fraction).toFixed(1);
  return row([
    name,
    String(latenciesMs.length),
    at(0.5),
    at(0.9),
    at(0.99),
    at(1),
    `${passes.good} / ${passes.failing} / ${passes.hot}`,
    cpuSeconds.toFixed(1),
    loopDelayP99Ms.toFixed(1),
  ]);
}

function pooledRow(withBad: boolean, results: readonly RunResult[]): string {
  const latenciesMs = results.flatMap((result) => result.latenciesMs);
  const at = (fraction: number) => quantile(latenciesMs, fraction).toFixed(1);
  const name = `all ${withBad ? 'with' : 'without'}`;
  return row([name, String(latenciesMs.length), at(0.5), at(0.9), at(0.99), at(1), '', '', '']);
}

function verdict(results: readonly RunResult[]): readonly string[] {
  const medianP99 = (withBad: boolean) =>
    quantile(
      results
        .filter((result) => result.withBad === withBad)
        .map(({ latenciesMs }) => quantile(latenciesMs, 0.99)),
      0.5,
    );
  const without = medianP99(false);
  const withBad = medianP99(true);
  if (!Number.isFinite(without) || !Number.isFinite(withBad)) return [];
  return [
    '',
    `Median p99 of the good definitions: ${withBad.toFixed(1)} ms with the bad ones, ${without.toFixed(1)} ms without: ${(withBad / without).toFixed(2)} times (target: 1.5).`,
  ];
}

/** The value below which that fraction lies, by nearest rank; not a number for nothing. */
function quantile(values: readonly number[], fraction: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const rank = Math.max(1, Math.ceil(fraction * sorted.length));
  return sorted[rank - 1] ?? Number.NaN;
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}
