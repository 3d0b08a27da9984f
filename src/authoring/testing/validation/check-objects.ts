import {
  arrangeDiagnostics,
  type Diagnostic,
  type LocatedDefinition,
  type LocatedObject,
  locate,
} from '#definition';
import type { JsonObject } from '#util/json.ts';
import { ObjectCheck } from './check-object.ts';

/** What is wrong with the objects of files, such as samples. CRDs among them are served for the others. */
export function checkObjects(
  objects: readonly LocatedObject[],
  check: ObjectCheck,
): readonly Diagnostic[] {
  for (const { object } of objects) check.serve(object);
  return arrangeDiagnostics(
    objects.flatMap(({ object, pointer, source }) =>
      check
        .check(object as unknown as JsonObject, 'whole')
        .map((finding) => locate({ ...finding, path: `${pointer}${finding.path}` }, source)),
    ),
  );
}

/** Like {@link checkObjects}, for one use with the kinds of these definitions. */
export function checkObjectsOf(
  definitions: readonly LocatedDefinition[],
  objects: readonly LocatedObject[],
): readonly Diagnostic[] {
  const check = new ObjectCheck(definitions);
  try {
    return checkObjects(objects, check);
  } finally {
    check.close();
  }
}
