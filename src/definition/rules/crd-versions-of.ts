import type { JsonObject } from '../../util/json.ts';
import type { SchemaNode } from '../crd/schema-node.ts';
import { subnode } from '../crd/schema-node.ts';
import { mapsAt, type Placed } from '../tree.ts';

/** The versions of the CRD that are maps. */
export function versionsOf(document: JsonObject): readonly Placed<JsonObject>[] {
  return mapsAt(document, '/spec/crd/versions');
}

/** The root of the schema of each version that has one. */
export function schemaRootsOf(document: JsonObject): readonly SchemaNode[] {
  return versionsOf(document).flatMap((version) => {
    const schema = subnode(version, 'schema');
    const root = schema && subnode(schema, 'openAPIV3Schema');
    return root === undefined ? [] : [root];
  });
}
