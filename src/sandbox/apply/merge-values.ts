import { isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import { fieldOf, isJsonList, type MutableJsonObject, setField } from '../json-fields.ts';
import { ApplyError } from './apply-error.ts';
import {
  type FieldType,
  type ListShape,
  type MapShape,
  shapeOf,
  typeOfField,
} from './field-type.ts';
import { describeElement, itemElement, type PathElement } from './path-element.ts';

/** A value that may be missing. */
type Maybe = Json | undefined;

/**
 * What an apply makes of a live value and a configuration: maps are joined, items of lists found by
 * their keys, everything else is the configuration's. Shares parts with both; what stays as it was is the
 * live value itself.
 * @throws ApplyError `invalid-item` when the configuration has an item twice that is in the live list, too; `checkValue` finds all.
 */
export function mergeValues(type: FieldType | undefined, live: Maybe, config: Maybe): Maybe {
  if (config === undefined) return live;
  if (live === undefined || live === config || type === undefined) return config;
  switch (shapeOf(type, config)) {
    case 'scalar':
      return config;
    case 'map':
      return type.map === undefined ? config : mergeMaps(type.map, live, config);
    case 'list':
      return type.list === undefined ? config : mergeLists(type.list, live, config);
  }
}

function mergeMaps(map: MapShape, live: Maybe, config: Maybe): Maybe {
  const left = isJsonObject(live) ? live : {};
  const right = isJsonObject(config) ? config : {};
  const names = new Set([...Object.keys(left), ...Object.keys(right)]);
  if (map.atomic || names.size === 0) return config === undefined ? live : config;
  const merged: MutableJsonObject = {};
  let isSame = isJsonObject(live) && names.size === Object.keys(left).length;
  for (const name of names) {
    const type = typeOfField(map, name);
    const before = fieldOf(left, name);
    const value = mergeValues(type, before, fieldOf(right, name));
    if (value !== before) isSame = false;
    if (value !== undefined) setField(merged, name, value);
  }
  if (isSame) return live;
  return Object.keys(merged).length === 0 ? undefined : (merged satisfies JsonObject);
}

function mergeLists(list: ListShape, live: Maybe, config: Maybe): Maybe {
  const left = isJsonList(live) ? live : [];
  const right = isJsonList(config) ? config : [];
  if (list.atomic || (left.length === 0 && right.length === 0))
    return config === undefined ? live : config;
  const merged = mergeItems(list, indexLive(list, left), indexConfig(list, right));
  if (merged.length === 0) return undefined;
  const isSame = merged.length === left.length && merged.every((item, at) => item === left[at]);
  return isSame ? live : merged;
}

interface IndexedItems {
  readonly items: readonly Json[];
  /** The step to each item. */
  readonly steps: readonly PathElement[];
  /** Null where a live list has an item twice. */
  readonly byStep: ReadonlyMap<PathElement, Json>;
}

function indexConfig(list: ListShape, items: readonly Json[]): IndexedItems {
  const steps = items.map((item) => itemElement(list, item));
  const byStep = new Map<PathElement, Json>();
  for (const [index, step] of steps.entries()) {
    if (byStep.has(step)) {
      const message = `duplicate entries for key ${describeElement(step)}`;
      throw new ApplyError('invalid-item', message);
    }
    byStep.set(step, items[index] ?? null);
  }
  return { items, steps, byStep };
}

function indexLive(list: ListShape, items: readonly Json[]): IndexedItems {
  const steps = items.map((item) => itemElement(list, item));
  const byStep = new Map<PathElement, Json>();
  for (const [index, step] of steps.entries())
    byStep.set(step, byStep.has(step) ? null : (items[index] ?? null));
  return { items, steps, byStep };
}

/**
 * Both lists are walked side by side. Items of the live list alone keep their place; items of the
 * configuration come in its order; an item of both stands where the configuration's order demands.
 */
function mergeItems(list: ListShape, live: IndexedItems, config: IndexedItems): readonly Json[] {
  const shared = config.steps.filter((step) => live.byStep.has(step));
  const done = new Set<PathElement>();
  const out: Json[] = [];
  let [l, c, nextShared] = [0, 0, 0];
  function take(value: Maybe): void {
    if (value !== undefined) out.push(value);
  }
  function takeConfig(step: PathElement): void {
    done.add(step);
    take(mergeValues(list.item, live.byStep.get(step), config.byStep.get(step)));
    if (shared[nextShared] === step) nextShared++;
    c++;
  }
  while (l < live.steps.length || c < config.steps.length) {
    const [left, right] = [live.steps[l], config.steps[c]];
    if (left !== undefined && right !== undefined) {
      if (left === right) {
        takeConfig(right);
        l++;
        continue;
      }
      // Another shared item has to come first: this one is passed over and taken with the configuration.
      if (config.byStep.has(left) && (shared[nextShared] ?? left) !== left) {
        l++;
        continue;
      }
    }
    if (left !== undefined) {
      if (!config.byStep.has(left)) {
        take(mergeValues(list.item, live.items[l], undefined));
        l++;
        continue;
      }
      if (done.has(left)) l++;
    }
    if (right !== undefined) takeConfig(right);
  }
  return out;
}
