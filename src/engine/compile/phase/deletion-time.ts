import { parseDurationMs } from '#util/duration.ts';
import type { CompiledDeleteAfter } from '../compiled-templates.ts';
import type { DeletionTime } from '../operator-plan.ts';
import { RenderError } from '../template/render-error.ts';
import { describeFound } from '../template/values.ts';

/** As Kubernetes writes times, with or without fractions of a second. */
const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

interface Values {
  readonly from: { readonly value: unknown };
  readonly after: { readonly value: unknown };
  readonly quotes: boolean;
}

/** When a resource is to be deleted. @throws RenderError if a value is no time, or no duration */
export function deletionTime(
  { ttl, since }: CompiledDeleteAfter,
  { from, after, quotes }: Values,
): DeletionTime {
  const sinceMs = timePattern.test(String(from.value))
    ? Date.parse(String(from.value))
    : Number.NaN;
  if (Number.isNaN(sinceMs)) {
    const message = `Expected a time such as "2026-01-01T00:00:00Z" at deleteAfter.since, found ${describeFound(from.value, quotes)}`;
    throw new RenderError('wrong-type', message, since.place);
  }
  const ttlMs = parseDurationMs(String(after.value).trim());
  if (ttlMs === undefined) {
    const message = `Expected a duration such as "1h" at deleteAfter.ttl, found ${describeFound(after.value, quotes)}`;
    throw new RenderError('wrong-type', message, ttl.place);
  }
  const text = quotes ? `${String(after.value).trim()} after ${String(from.value)}` : undefined;
  return { atMs: sinceMs + ttlMs, text };
}
