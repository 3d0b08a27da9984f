import type { Arbitrary } from 'fast-check';
import * as fc from 'fast-check';
import type { JsonObject } from '#util/json.ts';

/**
 * Texts for fields without a format or a pattern. All are valid DNS labels: a schema seldom says that a text becomes a name, a host or a
 * label value, and what the API server then rejects is no defect of the definition.
 */
const plainTexts = ['a', 'b', 'web', 'x-1', 'team-a', 'blue', 'v2', 'data'];

const formats: Readonly<Record<string, Arbitrary<string>>> = {
  'date-time': fc
    .integer({ min: 0, max: 4_000_000_000 })
    .map((seconds) => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`),
  date: fc
    .integer({ min: 0, max: 20_000 })
    .map((day) => new Date(day * 86_400_000).toISOString().slice(0, 10)),
  duration: fc
    .tuple(fc.integer({ min: 1, max: 300 }), fc.constantFrom('s', 'm', 'h'))
    .map(([count, unit]) => `${count}${unit}`),
  email: fc.constantFrom('a@example.com', 'team.b@example.org'),
  hostname: fc.constantFrom('a.example.com', 'b.example.com', 'example.org'),
  ipv4: fc
    .tuple(fc.integer({ min: 1, max: 254 }), fc.integer({ min: 1, max: 254 }))
    .map(([third, last]) => `10.0.${third}.${last}`),
  ipv6: fc.integer({ min: 1, max: 65_535 }).map((last) => `fd00::${last.toString(16)}`),
  cidr: fc.integer({ min: 0, max: 255 }).map((third) => `10.0.${third}.0/24`),
  uri: fc.constantFrom('https://example.com/', 'http://a.example.com/b'),
  uuid: fc.uuid(),
  byte: fc.constantFrom('', 'YQ==', 'eHl6'),
};

/** Texts that match a schema. `known`: texts of samples at this place. Pure. */
export function stringArbitrary(schema: JsonObject, known: readonly string[]): Arbitrary<string> {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern, format } = schema;
  const fits = (text: string) =>
    text.length >= Number(minLength) && text.length <= Number(maxLength);
  const samples = known.filter(fits);
  const created = createdTexts({ pattern, format, fits, minLength: Number(minLength) });
  if (created === undefined)
    return samples.length > 0 ? fc.constantFrom(...samples) : fc.constant('');
  // Samples come first: a failure is reduced to values that an author has chosen.
  return samples.length > 0 ? fc.oneof(fc.constantFrom(...samples), created) : created;
}

interface TextRules {
  readonly pattern: unknown;
  readonly format: unknown;
  readonly fits: (text: string) => boolean;
  readonly minLength: number;
}

function createdTexts({
  pattern,
  format,
  fits,
  minLength,
}: TextRules): Arbitrary<string> | undefined {
  if (typeof pattern === 'string') return matching(pattern)?.filter(fits);
  const formatted = typeof format === 'string' ? formats[format] : undefined;
  if (formatted !== undefined) return formatted;
  const texts = plainTexts.map((text) => text.padEnd(minLength, 'x')).filter(fits);
  return texts.length > 0 ? fc.constantFrom(...texts) : fc.constant('a'.repeat(minLength));
}

/** Undefined: the pattern is of the server's syntax and unknown to JavaScript. */
function matching(pattern: string): Arbitrary<string> | undefined {
  try {
    return fc.stringMatching(new RegExp(pattern), { maxLength: 20 });
  } catch {
    return undefined;
  }
}
