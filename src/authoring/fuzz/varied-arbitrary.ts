import type { Arbitrary } from 'fast-check';
import * as fc from 'fast-check';
import { isJsonObject, type Json, type JsonObject, pointerSteps } from '#util/json.ts';
import type { Content } from './history.ts';

/** Nothing is a content, too, but most kinds require more. */
const weights = { nothing: 1, sample: 8 };

/**
 * Contents of a kind whose schema is the server's, which says little of what the server checks: samples, in which fields have other values.
 * Pure.
 * @param values by JSON pointer below the resource, `*` for any item
 */
export function variedArbitrary(
  samples: readonly Content[],
  values: Readonly<Record<string, readonly Json[]>>,
): Arbitrary<Content> {
  const nothing = { weight: weights.nothing, arbitrary: fc.constant<Content>({}) };
  const chosenSamples = samples.map((sample) => ({
    weight: weights.sample,
    arbitrary: fc.constant(sample),
  }));
  const base = fc.oneof(...chosenSamples, nothing);
  const written = Object.entries(values).filter(([, allowed]) => allowed.length > 0);
  const changed = written.map(([pointer, allowed]) =>
    fc.constantFrom(...allowed).map((value) => ({ steps: pointerSteps(pointer), value })),
  );
  return fc
    .tuple(base, fc.tuple(...changed))
    .map(([content, changes]) =>
      changes.reduce<Content>(
        (now, { steps, value }) => withValue(now as JsonObject, steps, value) as Content,
        content,
      ),
    );
}

/** A copy with this value at a path; maps above it are created, items of lists are not. */
function withValue(
  current: Json | undefined,
  [step, ...below]: readonly string[],
  value: Json,
): Json | undefined {
  if (step === undefined) return value;
  if (step === '*') {
    const inside = (item: Json) => withValue(item, below, value) ?? item;
    if (Array.isArray(current)) return current.map(inside);
    if (!isJsonObject(current)) return current;
    return Object.fromEntries(
      Object.entries(current).map(([name, item]) => [name, inside(item as Json)]),
    );
  }
  const map = isJsonObject(current) ? current : {};
  const next = withValue(map[step], below, value);
  return next === undefined ? current : { ...map, [step]: next };
}
