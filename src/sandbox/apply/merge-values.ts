import { isJsonObject, type Json, type JsonObject } from '#util/json.ts';
import { setField } from '#util/set-field.ts';
import { fieldOf, isJsonList, type MutableJsonObject } from '../json-fields.ts';
import { ApplyError } from './apply-error.ts';
import {
  type FieldType,
  type ListShape,
  type MapShape,
  shapeOf,
  typeOfField,
} from './field-type.ts';
import { describeElement, itemElement, type PathElement } from './path-element.ts';

/** A value that may be absent. */
type Maybe = Json | undefined;

/**
 * Merges a configuration into a live value: maps are merged by key, list items are matched by key, all other values come from
 * the configuration. Shares parts with both; an unchanged value is the live value itself.
 * @throws ApplyError `invalid-item` when the configuration repeats an item that is also in the live list; `checkValue` finds
 * all duplicates.
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
  const liveItem = isJsonObject(live) ? live : {};
  const right = isJsonObject(config) ? config : {};
  const names = new Set([...Object.keys(liveItem), ...Object.keys(right)]);
  if (map.atomic || names.size === 0) return config === undefined ? live : config;
  const merged: MutableJsonObject = {};
  let isSame = isJsonObject(live) && names.size === Object.keys(liveItem).length;
  for (const name of names) {
    const type = typeOfField(map, name);
    const before = fieldOf(liveItem, name);
    const value = mergeValues(type, before, fieldOf(right, name));
    if (value !== before) isSame = false;
    if (value !== undefined) setField(merged, name, value);
  }
  if (isSame) return live;
  return Object.keys(merged).length === 0 ? undefined : (merged satisfies JsonObject);
}

function mergeLists(list: ListShape, live: Maybe, config: Maybe): Maybe {
  const liveItem = isJsonList(live) ? live : [];
  const right = isJsonList(config) ? config : [];
  if (list.atomic || (liveItem.length === 0 && right.length === 0))
    return config === undefined ? live : config;
  const merged = mergeItems(list, indexLive(list, liveItem), indexConfig(list, right));
  if (merged.length === 0) return undefined;
  const isSame =
    merged.length === liveItem.length && merged.every((item, at) => item === liveItem[at]);
  return isSame ? live : merged;
}

interface IndexedItems {
  readonly items: readonly Json[];
  /** The path element of each item. */
  readonly steps: readonly PathElement[];
  /** Null where a live list has duplicates of an item. */
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
 * Traverses both lists in parallel. Items of the live list only keep their position. Items of the configuration keep the order
 * of the configuration, also those that are in both lists.
 */
function mergeItems(list: ListShape, live: IndexedItems, config: IndexedItems): readonly Json[] {
  const shared = config.steps.filter((step) => live.byStep.has(step));
  const done = new Set<PathElement>();
  const merged: Json[] = [];
  let [l, c, nextShared] = [0, 0, 0];
  function take(value: Maybe): void {
    if (value !== undefined) merged.push(value);
  }
  function takeConfig(step: PathElement): void {
    done.add(step);
    take(mergeValues(list.item, live.byStep.get(step), config.byStep.get(step)));
    if (shared[nextShared] === step) nextShared++;
    c++;
  }
  while (l < live.steps.length || c < config.steps.length) {
    const [liveItem, right] = [live.steps[l], config.steps[c]];
    if (liveItem !== undefined && right !== undefined) {
      if (liveItem === right) {
        takeConfig(right);
        l++;
        continue;
      }
      // Another shared item must come first: this one is skipped and added with the configuration.
      if (config.byStep.has(liveItem) && (shared[nextShared] ?? liveItem) !== liveItem) {
        l++;
        continue;
      }
    }
    if (liveItem !== undefined) {
      if (!config.byStep.has(liveItem)) {
        take(mergeValues(list.item, live.items[l], undefined));
        l++;
        continue;
      }
      if (done.has(liveItem)) l++;
    }
    if (right !== undefined) takeConfig(right);
  }
  return merged;
}
