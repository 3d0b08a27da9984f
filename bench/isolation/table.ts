import type { RunResult } from './run-once.ts';

/** A table of runs; with more than one run of each kind also the comparison of all of them together. */
export function tableOf(results: readonly RunResult[]): string {
  const names = [...new Set(results.map(({ beside }) => beside))];
  const sums = names.flatMap((name) => {
    const all = results.filter(({ beside }) => beside === name);
    return all.length < 2 ? [] : [pooledRow(name, all)];
  });
  return [
    '| beside | changes | p50 ms | p90 ms | p99 ms | max ms | slowest /healthz ms | changes of the leader | passes good / other | CPU s | event loop p99 ms |',
    '| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |',
    ...results.map(rowOf),
    ...sums,
    ...notesOf(results),
    ...verdict(names, results),
  ].join('\n');
}

function notesOf(results: readonly RunResult[]): readonly string[] {
  const notes = results.flatMap(({ beside, note }) =>
    note === undefined ? [] : [`${beside}: ${note}`],
  );
  return notes.length === 0 ? [] : ['', ...notes];
}

function rowOf(result: RunResult): string {
  const { beside, latenciesMs, passes, cpuSeconds, loopDelayP99Ms } = result;
  return row([
    beside,
    ...latencies(latenciesMs),
    result.healthMaxMs.toFixed(0),
    String(result.leaseTransitions ?? 'no Lease'),
    `${passes.good} / ${passes.other}`,
    cpuSeconds.toFixed(1),
    loopDelayP99Ms.toFixed(1),
  ]);
}

function pooledRow(name: string, results: readonly RunResult[]): string {
  const all = results.flatMap(({ latenciesMs }) => latenciesMs);
  const health = Math.max(...results.map(({ healthMaxMs }) => healthMaxMs));
  return row([`all ${name}`, ...latencies(all), health.toFixed(0), '', '', '', '']);
}

function latencies(values: readonly number[]): readonly string[] {
  const at = (fraction: number) => quantile(values, fraction).toFixed(1);
  return [String(values.length), at(0.5), at(0.9), at(0.99), at(1)];
}

/** What each costs the good definitions, where they were measured alone as well. */
function verdict(names: readonly string[], results: readonly RunResult[]): readonly string[] {
  const medianP99 = (name: string) =>
    quantile(
      results
        .filter(({ beside }) => beside === name)
        .map(({ latenciesMs }) => quantile(latenciesMs, 0.99)),
      0.5,
    );
  const alone = medianP99('none');
  if (!Number.isFinite(alone)) return [];
  const lines = names
    .filter((name) => name !== 'none')
    .map((name) => {
      const ms = medianP99(name);
      return `Median p99 of the good definitions beside ${name}: ${ms.toFixed(1)} ms, alone ${alone.toFixed(1)} ms: ${(ms / alone).toFixed(2)} times.`;
    });
  return lines.length === 0 ? [] : ['', ...lines];
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
