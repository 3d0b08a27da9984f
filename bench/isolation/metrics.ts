/** One scrape, as far as the bench needs it. */
export type Metrics = readonly Sample[];

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Reads `/metrics`. */
export async function readMetrics(url: string): Promise<Metrics> {
  const response = await fetch(`${url}/metrics`);
  const lines = (await response.text()).split('\n');
  return lines.filter((line) => line !== '' && !line.startsWith('#')).map(parseSample);
}

/** The sum of the series of that name whose labels match. */
export function sumOf(
  metrics: Metrics,
  name: string,
  matches: (labels: Readonly<Record<string, string>>) => boolean,
): number {
  return metrics
    .filter((sample) => sample.name === name && matches(sample.labels))
    .reduce((sum, { value }) => sum + value, 0);
}

function parseSample(line: string): Sample {
  const [, name = '', labels = '', value = ''] =
    /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/.exec(line) ?? [];
  const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)];
  return {
    name,
    labels: Object.fromEntries(pairs.map(([, key = '', text = '']) => [key, text])),
    value: Number(value),
  };
}
