import { checkDefinitions, type DefinitionManifest } from '#check';
import { bundledSchemas } from '#compile';
import type { LocatedDefinition, LocatedObject } from '#definition';
import { groupKindKey, gvkOf } from '#util/gvk.ts';
import { CliError } from '../exit-code.ts';

/** A resource, and the objects beside it, which exist before. */
export interface ResourceInFile {
  readonly resource: LocatedObject;
  readonly others: readonly LocatedObject[];
}

/**
 * The only object of a file, or the only one of a kind of the definitions. Definitions with errors are reported elsewhere: they have the
 * first object.
 * @throws CliError if it is not clear which one is meant
 */
export function resourceInFile(
  objects: readonly LocatedObject[],
  definitions: readonly DefinitionManifest[],
  file: string,
): ResourceInFile {
  const own = objects.length === 1 ? objects : resourcesIn(objects, servedDefinitions(definitions));
  const [resource, ...more] = own;
  if (resource === undefined || more.length > 0)
    throw new CliError(`Expected one resource in "${file}", found ${own.length}`, {
      hint: 'Other objects, such as those that the definition reads, may be beside it, or are given by --with FILE',
    });
  return { resource, others: objects.filter((each) => each !== resource) };
}

function servedDefinitions(
  definitions: readonly DefinitionManifest[],
): readonly LocatedDefinition[] {
  const { accepted } = checkDefinitions(definitions, { schemas: bundledSchemas() });
  return accepted.map(({ located }) => located);
}

function resourcesIn(
  objects: readonly LocatedObject[],
  definitions: readonly LocatedDefinition[],
): readonly LocatedObject[] {
  if (definitions.length === 0) return objects.slice(0, 1);
  const kinds = new Set(definitions.map(({ definition }) => groupKindKey(definition.kind.gvk)));
  return objects.filter(({ object: { apiVersion, kind } }) =>
    kinds.has(groupKindKey(gvkOf(apiVersion, kind))),
  );
}
