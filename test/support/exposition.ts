/** One sample of an exposition. */
export interface Sample {
  /** With the suffix of histograms: `..._bucket`. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** All samples of one metric. */
export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary';
  readonly samples: readonly Sample[];
}

const types: ReadonlySet<string> = new Set(['counter', 'gauge', 'histogram', 'summary']);
const sampleLine =
  /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*",?)*)\})? (\S+)$/;

/**
 * Reads the text format of Prometheus (0.0.4) as strictly as its specification has it.
 * @throws Error with the line that breaks a rule.
 */
export function parseExposition(text: string): readonly MetricFamily[] {
  if (!text.endsWith('\n')) throw new Error('The last line must end with a line feed');
  const families: { name: string; help: string; type: string; samples: Sample[] }[] = [];
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    const comment = /^# (HELP|TYPE) ([a-zA-Z_:][\w:]*) (.*)$/.exec(line);
    if (comment === null && line.startsWith('#')) continue;
    if (comment === null) {
      const sample = parseSample(line);
      const family = families.at(-1);
      if (family === undefined || !belongs(sample.name, family)) throw failure('no TYPE', line);
      family.samples.push(sample);
      continue;
    }
    const [, keyword, name = '', rest = ''] = comment;
    if (keyword === 'HELP') {
      if (families.some((family) => family.name === name)) throw failure('a second HELP', line);
      families.push({ name, help: rest, type: '', samples: [] });
    } else {
      const family = families.at(-1);
      if (family?.name !== name || family.type !== '') throw failure('TYPE without HELP', line);
      if (!types.has(rest)) throw failure('an unknown type', line);
      family.type = rest;
    }
  }
  for (const family of families) checkFamily(family as MetricFamily);
  return families as readonly MetricFamily[];
}

function parseSample(line: string): Sample {
  const match = sampleLine.exec(line);
  if (match === null) throw failure('not a sample', line);
  const [, name = '', pairs = '', text = ''] = match;
  const labels: Record<string, string> = {};
  for (const [, label = '', value = ''] of pairs.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) {
    if (label in labels) throw failure('a label twice', line);
    labels[label] = value.replace(/\\(.)/g, (_, escaped) => (escaped === 'n' ? '\n' : escaped));
  }
  return { name, labels, value: numberOf(text, line) };
}

function numberOf(text: string, line: string): number {
  if (text === '+Inf') return Number.POSITIVE_INFINITY;
  if (text === '-Inf') return Number.NEGATIVE_INFINITY;
  // Prometheus reads it in any case of letters; prom-client writes "Nan" for the lag of a loop that was not sampled since the last scrape.
  if (text.toLowerCase() === 'nan') return Number.NaN;
  if (Number.isNaN(Number(text))) throw failure('not a number', line);
  return Number(text);
}

function belongs(name: string, family: { readonly name: string; readonly type: string }): boolean {
  if (family.type !== 'histogram') return name === family.name;
  return ['_bucket', '_sum', '_count'].some((suffix) => name === family.name + suffix);
}

function checkFamily({ name, type, samples }: MetricFamily): void {
  const seen = new Set<string>();
  for (const sample of samples) {
    const identity = JSON.stringify([sample.name, Object.entries(sample.labels).sort()]);
    if (seen.has(identity)) throw new Error(`Twice: ${identity}`);
    seen.add(identity);
    const isCount = type === 'counter' || type === 'histogram';
    if (isCount && !(sample.value >= 0)) throw new Error(`Negative: ${identity}`);
  }
  if (type === 'histogram') checkHistogram(name, samples);
}

function checkHistogram(name: string, samples: readonly Sample[]): void {
  const bySeries = Map.groupBy(samples, ({ labels }) => {
    const { le, ...own } = labels;
    return JSON.stringify(Object.entries(own).sort());
  });
  for (const [series, own] of bySeries) {
    const buckets = own.filter((sample) => sample.name === `${name}_bucket`);
    const bounds = buckets.map(({ labels }) => numberOf(labels.le ?? '', series));
    const counts = buckets.map(({ value }) => value);
    const total = own.find((sample) => sample.name === `${name}_count`)?.value;
    const isGrowing = (values: readonly number[]) =>
      values.every((value, index) => index === 0 || value >= (values[index - 1] ?? 0));
    if (!isGrowing(bounds) || !isGrowing(counts)) throw new Error(`Unordered: ${name}${series}`);
    if (bounds.at(-1) !== Number.POSITIVE_INFINITY || counts.at(-1) !== total)
      throw new Error(`The last bucket is not the count: ${name}${series}`);
    if (own.filter((sample) => sample.name === `${name}_sum`).length !== 1)
      throw new Error(`No sum: ${name}${series}`);
  }
}

function failure(what: string, line: string): Error {
  return new Error(`Found ${what}: ${line}`);
}
