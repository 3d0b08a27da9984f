import { isJsonObject } from '../../util/json.ts';
import { type Problem, problemOfRender } from '../failure.ts';
import type { Pass } from '../pass/pass.ts';
import type { ReportedWorld } from './start-reporting.ts';

/** The author's status fields. */
export interface MappedStatus {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly problems: readonly Problem[];
}

/**
 * Evaluates the status mapping. A field that fails keeps its last value, and all of them do while something that
 * they may read is not known.
 */
export async function mapStatus(
  pass: Pass,
  { phase, isKnown }: ReportedWorld,
): Promise<MappedStatus> {
  const keys = Object.keys(pass.context.plan.definition.status);
  if (keys.length === 0) return { fields: {}, problems: [] };
  const last = lastMapped(pass);
  if (!isKnown) return { fields: last, problems: [] };
  const { fields, failures } = await phase.status();
  const failed = new Set(failures.map(({ field }) => statusKeyOf(field)));
  const kept = pick(
    last,
    keys.filter((key) => failed.has(key)),
  );
  return { fields: { ...fields, ...kept }, problems: failures.map(problemOfRender) };
}

/** The author's status fields as the pass found them. */
export function lastMapped({ context, resource }: Pass): Readonly<Record<string, unknown>> {
  const keys = Object.keys(context.plan.definition.status);
  return pick(isJsonObject(resource.status) ? resource.status : {}, keys);
}

/** `nodes` of `status.nodes[0].name`. */
function statusKeyOf(field: string): string {
  return field.replace(/^status\./, '').split(/[.[]/, 1)[0] ?? field;
}

function pick(
  source: Readonly<Record<string, unknown>>,
  keys: readonly string[],
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    keys.flatMap((key) => (source[key] === undefined ? [] : [[key, source[key]]])),
  );
}
