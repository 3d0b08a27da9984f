import { conditionsOf } from '../../util/conditions-of.ts';
import { isJsonObject } from '../../util/json.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { type Problem, problemOfRender } from '../failure.ts';
import type { Given, Pass } from '../pass/pass.ts';
import { conditionTypesOf, statusKeysOf } from '../status-fields.ts';
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
export function lastMapped({ context, resource }: Given): Readonly<Record<string, unknown>> {
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

type Status = Readonly<Record<string, unknown>>;

/**
 * The resource with a status that is about to be written: what others write into it stays. `status`: the fields that are known by now;
 * the author's are all among them.
 */
export function withNewStatus({ context, resource }: Given, status: Status): KubeObject {
  const { plan } = context;
  const written = new Set(statusKeysOf(plan));
  const before: Status = isJsonObject(resource.status) ? resource.status : {};
  const kept = Object.entries(before).filter(
    ([key]) => !(key in plan.definition.status) && !(written.has(key) && key in status),
  );
  const next = { ...Object.fromEntries(kept), ...status };
  if (!Array.isArray(status.conditions)) return { ...resource, status: next };
  const ours = conditionTypesOf(plan);
  const others = conditionsOf(resource).filter(({ type }) => !ours.has(type));
  return { ...resource, status: { ...next, conditions: [...others, ...status.conditions] } };
}
