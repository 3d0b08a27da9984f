import { parseDurationMs } from '#util/duration.ts';
import { gvkOf } from '#util/gvk.ts';
import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import type {
  ConditionDefinition,
  CrossNamespace,
  EventDefinition,
  PatchDefinition,
  PatchTarget,
  ReadNamespaces,
  ReportingDefinition,
  ScheduleDefinition,
  ServedNamespaces,
} from './operator-definition.ts';
import { containsExpression } from './rules/rule.ts';
import { itemsAt, mapAt } from './tree.ts';

/**
 * Conditions, Events and patches of a document; undefined if it has none. An item that is not a map counts as an
 * empty map, so that indexes do not change.
 */
export function resolveReporting(spec: JsonObject): ReportingDefinition | undefined {
  const { requeueAfter } = spec;
  const conditions = listOf(spec, 'conditions').map(resolveCondition);
  const events = listOf(spec, 'events').map(resolveEvent);
  const patches = listOf(spec, 'patches').map(resolvePatch);
  const cron = computedCron(spec);
  const isEmpty = conditions.length + events.length + patches.length === 0;
  if (isEmpty && requeueAfter === undefined && cron === undefined) return undefined;
  return {
    conditions,
    events,
    patches,
    ...(requeueAfter === undefined ? {} : { requeueAfter }),
    ...(cron && { cron }),
  };
}

/** When resources are reconciled without a change; undefined: never. */
export function resolveSchedule(spec: JsonObject): ScheduleDefinition | undefined {
  const { every, cron, timeZone } = mapAt(spec, '/schedule');
  const everyMs = typeof every === 'string' ? parseDurationMs(every) : undefined;
  const isLiteral = typeof cron === 'string' && !containsExpression(cron);
  if (everyMs === undefined && !isLiteral) return undefined;
  return {
    ...(everyMs === undefined ? {} : { everyMs }),
    ...(isLiteral ? { cron: { expression: cron, timeZone: zoneOf(timeZone) } } : {}),
  };
}

/** A schedule that each resource computes. */
function computedCron(spec: JsonObject): ReportingDefinition['cron'] {
  const { cron, timeZone } = mapAt(spec, '/schedule');
  const isComputed = typeof cron === 'string' && containsExpression(cron);
  return isComputed ? { expression: cron, timeZone: zoneOf(timeZone) } : undefined;
}

function zoneOf(timeZone: Json | undefined): string {
  return typeof timeZone === 'string' ? timeZone : 'UTC';
}

/** The namespaces whose resources are reconciled; undefined: all. */
export function resolveServedNamespaces(controller: JsonObject): ServedNamespaces | undefined {
  const { include, exclude } = mapAt(controller, '/namespaces');
  if (include === undefined && exclude === undefined) return undefined;
  return {
    ...(Array.isArray(include) ? { include: include.map(String) } : {}),
    exclude: Array.isArray(exclude) ? exclude.map(String) : [],
  };
}

function listOf(spec: JsonObject, field: string): readonly JsonObject[] {
  return itemsAt(spec, `/${field}`).map(({ value }) => (isJsonObject(value) ? value : {}));
}

function resolveCondition({ type, status, reason, message }: JsonObject): ConditionDefinition {
  return { type: textOf(type), status, ...optional({ reason, message }) };
}

function resolveEvent({ when, type, reason, message }: JsonObject): EventDefinition {
  return {
    when: when ?? true,
    type: type === 'Warning' ? 'Warning' : 'Normal',
    reason: reason ?? '',
    ...optional({ message }),
  };
}

function resolvePatch(written: JsonObject): PatchDefinition {
  const target = resolveTarget(mapAt(written, '/target'));
  return {
    id: textOf(written.id),
    ...optional({ when: written.when, forEach: written.forEach, once: written.once }),
    ...(target === undefined ? {} : { target }),
    patch: typeof written.patch === 'string' ? written.patch : mapAt(written, '/patch'),
    create: written.create === true,
    ...(written.replace === true && { replace: true }),
    ...(written.status === true && { status: true }),
    ...(written.delete === true && { delete: true }),
    ...(written.at === 'Deletion' && { atDeletion: true }),
    ...optionalOwnership(written),
    crossNamespace: resolveCrossNamespace(written.crossNamespace),
  };
}

function optionalOwnership({ conflicts, withdraw }: JsonObject): Pick<PatchDefinition, 'owned'> {
  if (conflicts === undefined && withdraw === undefined) return {};
  return {
    owned: {
      conflicts: conflicts === 'Force' ? 'Force' : 'Report',
      withdraws: withdraw !== false,
    },
  };
}

function resolveTarget(target: JsonObject): PatchTarget | undefined {
  if (Object.keys(target).length === 0) return undefined;
  const { apiVersion, kind, name, namespace } = target;
  const isComputed = [apiVersion, kind].some(
    (text) => typeof text === 'string' && containsExpression(text),
  );
  return {
    ...(isComputed
      ? { computed: { apiVersion: apiVersion ?? '', kind: kind ?? '' } }
      : { gvk: gvkOf(textOf(apiVersion), textOf(kind)) }),
    name: name ?? '',
    ...optional({ namespace }),
  };
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

function optional<Fields extends Readonly<Record<string, Json | undefined>>>(
  fields: Fields,
): { readonly [Field in keyof Fields]?: Json } {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as never;
}

/** The namespaces of a read. */
export function resolveNamespaces(read: JsonObject): ReadNamespaces {
  const { namespace, namespaces, namespaceSelector } = read;
  if (namespace !== undefined) return { kind: 'one', namespace };
  if (namespaces !== undefined) return { kind: 'list', namespaces };
  if (isJsonObject(namespaceSelector)) return { kind: 'selector', selector: namespaceSelector };
  return { kind: 'own' };
}

/** `crossNamespace` of a read, a child or a patch. */
export function resolveCrossNamespace(written: Json | undefined): CrossNamespace {
  if (!isJsonObject(written)) return written === true;
  const { namespaces } = written;
  return { namespaces: Array.isArray(namespaces) ? namespaces.map(String) : [] };
}
