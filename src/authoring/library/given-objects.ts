import { parseObjects } from '#dev';
import type { KubeObject } from './api.ts';

/** Objects, or those of a YAML or JSON text. @throws Error for a text that is not objects */
export function objectsOf(
  objects: KubeObject | readonly KubeObject[] | string,
): readonly KubeObject[] {
  if (typeof objects === 'string') return parseObjects(objects);
  return isList(objects) ? objects : [objects];
}

/** One object, or that of a text. @throws Error for none or several */
export function oneObject(object: KubeObject | string): KubeObject {
  const [first, ...others] = objectsOf(object);
  if (first !== undefined && others.length === 0) return first;
  throw new Error(`Expected one object, found ${first === undefined ? 0 : others.length + 1}`);
}

function isList(objects: KubeObject | readonly KubeObject[]): objects is readonly KubeObject[] {
  return Array.isArray(objects);
}
