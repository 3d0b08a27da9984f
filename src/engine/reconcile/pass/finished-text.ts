import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { conditionsOf } from '#util/kube-object.ts';
import type { FinishedChild } from './finished-children.ts';

/** Above this length of the annotation, records keep only the conditions that are true. */
const maxFullLength = 128 * 1024;
/** Above this length, they are compact. A server accepts 256 KiB for all annotations of an object. */
const maxShortLength = 200 * 1024;

type Records = ReadonlyMap<string, FinishedChild>;

/** Writes records, by identity: whole, or as much as fits. Pure. */
export function finishedText(records: Records): string {
  const sorted = [...records].sort(([a], [b]) => (a < b ? -1 : 1));
  const whole = JSON.stringify(Object.fromEntries(sorted));
  if (whole.length <= maxFullLength) return whole;
  const short = JSON.stringify(
    Object.fromEntries(sorted.map(([identity, record]) => [identity, shortened(record)])),
  );
  return short.length <= maxShortLength ? short : JSON.stringify(compacted(sorted));
}

/** Reads records. What is none is left out: another manager may have edited the annotation. Pure. */
export function parseFinished(text = '{}'): Map<string, FinishedChild> {
  try {
    const parsed: unknown = JSON.parse(text);
    const entries = isJsonObject(parsed) ? Object.entries(parsed) : [];
    return new Map(
      entries.flatMap(([identity, record]) =>
        isRecord(record) ? [[identity, record] as const] : expanded(identity, record),
      ),
    );
  } catch {
    return new Map();
  }
}

function isRecord(value: unknown): value is FinishedChild {
  return (
    isJsonObject(value) &&
    typeof value.child === 'string' &&
    typeof value.intent === 'string' &&
    isJsonObject(value.status)
  );
}

function shortened({ child, intent, status }: FinishedChild): FinishedChild {
  const conditions = conditionsOf({ status })
    .filter((condition) => condition.status === 'True')
    .map(({ type, reason }) => ({ type, status: 'True', ...(reason !== undefined && { reason }) }));
  const { phase } = status;
  return {
    child,
    intent,
    status: { ...(phase !== undefined && { phase }), conditions } as JsonObject,
  };
}

/** `{ "job batch/Job default/": { "load-1": "0123456789abcdef Complete" } }`: 2,000 records with long names fit. */
function compacted(sorted: readonly (readonly [string, FinishedChild])[]): JsonObject {
  const groups: Record<string, Record<string, string>> = {};
  for (const [identity, { child, intent, status }] of sorted) {
    const start = Math.max(identity.lastIndexOf('/'), identity.lastIndexOf(' ')) + 1;
    const key = `${child} ${identity.slice(0, start)}`;
    groups[key] ??= {};
    groups[key][identity.slice(start)] = [intent, ...endsOf(status)].join(' ');
  }
  return groups;
}

const phaseMark = 'phase=';

function endsOf(status: JsonObject): readonly string[] {
  const { phase } = status;
  const types = conditionsOf({ status })
    .filter((condition) => condition.status === 'True')
    .map(({ type }) => String(type));
  const ends = typeof phase === 'string' ? [`${phaseMark}${phase}`, ...types] : types;
  return ends.filter((end) => /^\S+$/.test(end));
}

function expanded(
  key: string,
  group: Json | undefined,
): readonly (readonly [string, FinishedChild])[] {
  const [, child, prefix] = /^(\S+) (.*)$/.exec(key) ?? [];
  if (child === undefined || !isJsonObject(group)) return [];
  return Object.entries(group).flatMap(([name, text]) => {
    if (typeof text !== 'string') return [];
    const [intent = '', ...ends] = text.split(' ');
    const phase = ends.find((end) => end.startsWith(phaseMark))?.slice(phaseMark.length);
    const types = ends.filter((end) => !end.startsWith(phaseMark));
    const conditions = types.map((type) => ({ type, status: 'True' }));
    const status = { ...(phase !== undefined && { phase }), conditions };
    return [[`${prefix}${name}`, { child, intent, status }] as const];
  });
}
