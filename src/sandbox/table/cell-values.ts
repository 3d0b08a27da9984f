import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { fieldOf, listField, objectField, stringField } from '../json-fields.ts';

/** The row of an object: a cell for each column. */
export interface PrintedRow {
  readonly cells: readonly Json[];
  /** Only for finished pods: clients that hide them check it. */
  readonly conditions?: readonly JsonObject[];
}

/** Prints an object; its age is relative to the given time. */
export type RowPrinter = (object: JsonObject, nowMs: number) => PrintedRow;

/** The cell of an empty value. */
export const none = '<none>';
export const unset = '<unset>';

/** A nested object; empty when it is absent. */
export function objectIn(object: JsonObject, ...path: readonly string[]): JsonObject {
  let found = object;
  for (const name of path) found = objectField(found, name) ?? {};
  return found;
}

/** The objects of a list. */
export function objectsIn(object: JsonObject, name: string): readonly JsonObject[] {
  return listField(object, name).filter(isJsonObject);
}

/** A string field; empty when it is absent. */
export function stringIn(object: JsonObject, name: string): string {
  return stringField(object, name) ?? '';
}

/** A number field; 0 when it is absent. */
export function countIn(object: JsonObject, name: string): number {
  const value = fieldOf(object, name);
  return typeof value === 'number' ? value : 0;
}

export function textsIn(object: JsonObject, name: string): readonly string[] {
  return listField(object, name).map(String);
}

export function nameOf(object: JsonObject): string {
  return stringIn(objectIn(object, 'metadata'), 'name');
}

/** The duration since a time; `<unknown>` when the time is absent. */
export function timeSince(time: Json | undefined, nowMs: number): string {
  if (typeof time !== 'string') return '<unknown>';
  const ms = Date.parse(time);
  return Number.isNaN(ms) ? '<unknown>' : humanDuration(nowMs - ms);
}

export function ageOf(object: JsonObject, nowMs: number): string {
  return timeSince(objectIn(object, 'metadata').creationTimestamp, nowMs);
}

/** The condition of a type, if the object has it. */
export function conditionOf(object: JsonObject, type: string): JsonObject | undefined {
  return objectsIn(objectIn(object, 'status'), 'conditions').find(
    (condition) => condition.type === type,
  );
}

export function isTrue(object: JsonObject, type: string): boolean {
  return conditionOf(object, type)?.status === 'True';
}

/** The names and images of the containers in a pod spec. */
export function containerCells(podSpec: JsonObject): readonly [string, string] {
  const containers = objectsIn(podSpec, 'containers');
  return [
    containers.map((container) => stringIn(container, 'name')).join(','),
    containers.map((container) => stringIn(container, 'image')).join(','),
  ];
}

/** Labels sorted by name: `a=1,b=2`. */
export function labelsText(labels: JsonObject): string {
  const entries = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.length === 0 ? none : entries.map(([name, value]) => `${name}=${value}`).join(',');
}

interface ShorteningOptions {
  /** The maximum number of items shown. */
  readonly limit: number;
  /** The number of all items, to compute the remainder. @default the number of items */
  readonly total?: number;
  /** @default ',' */
  readonly separator?: string;
}

/** Lists items up to the limit; counts the rest. */
export function shortened(items: readonly string[], options: ShorteningOptions): string {
  const { limit, total = items.length, separator = ',' } = options;
  const shown = items.slice(0, limit).join(separator);
  return items.length > limit ? `${shown} + ${total - limit} more...` : shown;
}

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

/** A duration as in tables: two units while it is short, then one. */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1000);
  if (seconds < -1) return '<invalid>';
  if (ms < 0) return '0s';
  if (seconds < 2 * minute) return `${seconds}s`;
  if (seconds < 10 * minute) return twoUnits(seconds, [minute, 'm'], [1, 's']);
  if (seconds < 3 * hour) return `${Math.floor(seconds / minute)}m`;
  if (seconds < 8 * hour) return twoUnits(seconds, [hour, 'h'], [minute, 'm']);
  if (seconds < 2 * day) return `${Math.floor(seconds / hour)}h`;
  if (seconds < 8 * day) return twoUnits(seconds, [day, 'd'], [hour, 'h']);
  if (seconds < 2 * year) return `${Math.floor(seconds / day)}d`;
  if (seconds < 8 * year) return twoUnits(seconds, [year, 'y'], [day, 'd']);
  return `${Math.floor(seconds / year)}y`;
}

type Unit = readonly [seconds: number, name: string];

function twoUnits(seconds: number, [large, name]: Unit, [small, smallName]: Unit): string {
  const rest = Math.floor((seconds % large) / small);
  const whole = `${Math.floor(seconds / large)}${name}`;
  return rest === 0 ? whole : `${whole}${rest}${smallName}`;
}
