/** JSON pointers in which items of lists have names: they remain right when other items are added before. */
import { nearestName } from '#util/did-you-mean.ts';
import { isJsonObject, pointerSteps, pointerTo } from '#util/json.ts';
import { fieldOf } from './tree.ts';

interface ResolvedPath {
  /** JSON pointer with the positions of items. Undefined: there is no such place. */
  readonly place: string | undefined;
  /** The path that may be meant instead. */
  readonly nearest?: string | undefined;
}

/** Finds the place of a path whose list items are named by `id`, `name`, `type` or their position. */
export function resolveNamedPath(document: unknown, path: string): ResolvedPath {
  let value = document;
  let place = '';
  let before = '';
  const steps = pointerSteps(path);
  for (const [index, step] of steps.entries()) {
    const key = Array.isArray(value) ? keyOfItem(value, step) : step;
    const next = fieldOf(value, key);
    if (next === undefined) {
      const near = nearestName(step, namesIn(value));
      const nearest = near && [near, ...steps.slice(index + 1)].reduce<string>(pointerTo, before);
      return { place: undefined, nearest };
    }
    place = pointerTo(place, key);
    before = pointerTo(before, step);
    value = next;
  }
  return { place };
}

/** The path of a JSON pointer, with names where an item has one of its own. */
export function namedPath(document: unknown, pointer: string): string {
  let value = document;
  let path = '';
  for (const step of pointerSteps(pointer)) {
    const item = fieldOf(value, step);
    const name = Array.isArray(value) ? nameOf(item) : undefined;
    const isUnique = Array.isArray(value) && name !== undefined && keyOfItem(value, name) === step;
    path = pointerTo(path, isUnique ? name : step);
    value = item;
  }
  return path;
}

function keyOfItem(list: readonly unknown[], step: string): string {
  const index = list.findIndex((item) => nameOf(item) === step);
  return index < 0 ? step : String(index);
}

function namesIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item) => nameOf(item) ?? []);
  return isJsonObject(value) ? Object.keys(value) : [];
}

/** What distinguishes an item of a list in a definition or a manifest. */
function nameOf(item: unknown): string | undefined {
  if (!isJsonObject(item)) return undefined;
  const { id, name, type } = item;
  return [id, name, type].find((each) => typeof each === 'string');
}
