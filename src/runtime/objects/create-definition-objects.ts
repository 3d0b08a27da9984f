import type { DefinitionObjects, DefinitionObjectsOptions } from './definition-objects.ts';
import { ObjectKeeper } from './object-keeper.ts';

/** Makes the keeper of all objects of definitions; nothing happens before {@link DefinitionObjects.run}. */
export function createDefinitionObjects(options: DefinitionObjectsOptions): DefinitionObjects {
  return new ObjectKeeper(options);
}
