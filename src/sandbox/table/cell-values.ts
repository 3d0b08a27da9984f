import { isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import { fieldOf, listField, objectField, stringField } from '../json-fields.ts';
import { humanDuration } from './human-duration.ts';

/** What a printer makes of an object: a cell for each column. */
export interface PrintedRow {
  readonly cells: readonly Json[];
  /** Of pods that have ended: clients that show only running ones look at it. */
  readonly conditions?: readonly JsonObject[];
}

/** Prints an object at a time. */
export type RowPrinter = (object: JsonObject, nowMs: number) => PrintedRow;

/** What tables show where nothing is. */
export const none = '<none>';
export const unset = '<unset>';

/** An object within an object, empty when it is not there. */
export function part(object: JsonObject, ...path: readonly string[]): JsonObject {
  let found = object;
  for (const name of path) found = objectField(found, name) ?? {};
  return found;
}

/** The objects of a list. */
export function objectsIn(object: JsonObject, name: string): readonly JsonObject[] {
  return listField(object, name).filter(isJsonObject);
}

/** A text, empty when it is not there. */
export function textIn(object: JsonObject, name: string): string {
  return stringField(object, name) ?? '';
}

/** A number, 0 when it is not there. */
export function countIn(object: JsonObject, name: string): number {
  const value = fieldOf(object, name);
  return typeof value === 'number' ? value : 0;
}

export function textsIn(object: JsonObject, name: string): readonly string[] {
  return listField(object, name).map(String);
}

export function nameOf(object: JsonObject): string {
  return textIn(part(object, 'metadata'), 'name');
}

/** How long ago a time was; times that are not there are unknown. */
export function since(time: Json | undefined, nowMs: number): string {
  if (typeof time !== 'string') return '<unknown>';
  const ms = Date.parse(time);
  return Number.isNaN(ms) ? '<unknown>' : humanDuration(nowMs - ms);
}

export function ageOf(object: JsonObject, nowMs: number): string {
  return since(part(object, 'metadata').creationTimestamp, nowMs);
}

/** The condition of a type, if the object has it. */
export function conditionOf(object: JsonObject, type: string): JsonObject | undefined {
  return objectsIn(part(object, 'status'), 'conditions').find(
    (condition) => condition.type === type,
  );
}

export function isTrue(object: JsonObject, type: string): boolean {
  return conditionOf(object, type)?.status === 'True';
}

/** Names and images of the containers of a pod's spec. */
export function containerCells(podSpec: JsonObject): readonly [string, string] {
  const containers = objectsIn(podSpec, 'containers');
  return [
    containers.map((container) => textIn(container, 'name')).join(','),
    containers.map((container) => textIn(container, 'image')).join(','),
  ];
}

/** `a=1,b=2`, by name. */
export function labelsText(labels: JsonObject): string {
  const entries = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.length === 0 ? none : entries.map(([name, value]) => `${name}=${value}`).join(',');
}

export interface ShorteningOptions {
  /** Items that are shown. */
  readonly limit: number;
  /** What the rest is counted from. @default the number of items */
  readonly total?: number;
  /** @default ',' */
  readonly separator?: string;
}

/** At most so many items; the rest is counted. */
export function shortened(items: readonly string[], options: ShorteningOptions): string {
  const { limit, total = items.length, separator = ',' } = options;
  const shown = items.slice(0, limit).join(separator);
  return items.length > limit ? `${shown} + ${total - limit} more...` : shown;
}
