import type { Gvk } from '#util/gvk.ts';
import type { JsonObject } from '#util/json.ts';
import { httpEndpointGvk, httpEndpointSchema } from './http-endpoint.ts';
import { httpObjectGvk, httpObjectSchema } from './http-object.ts';

/** A kind as it is installed. */
export interface HttpKind {
  readonly gvk: Gvk;
  readonly crdName: string;
  readonly scope: 'Namespaced';
  readonly shortName: string;
  /** Incremented with every change of the schema. */
  readonly schemaNumber: number;
  readonly columns: readonly JsonObject[];
  /** Schema of the whole object. */
  readonly schema: () => JsonObject;
}

/** Both kinds, as they are installed. */
export const httpKinds: readonly HttpKind[] = [
  {
    gvk: httpEndpointGvk,
    crdName: 'httpendpoints.homeostat.dev',
    scope: 'Namespaced',
    shortName: 'hep',
    schemaNumber: 1,
    columns: [
      column('URL', '.spec.url'),
      condition('Ready', 'status'),
      condition('Reachable', 'status'),
      column('Age', '.metadata.creationTimestamp', 'date'),
    ],
    schema: () => httpEndpointSchema,
  },
  {
    gvk: httpObjectGvk,
    crdName: 'httpobjects.homeostat.dev',
    scope: 'Namespaced',
    shortName: 'hob',
    schemaNumber: 2,
    columns: [
      column('Endpoint', '.spec.endpoint.name'),
      condition('Ready', 'status'),
      condition('Synced', 'status'),
      { ...condition('Synced', 'reason'), name: 'Reason' },
      column('Id', '.status.id'),
      column('Age', '.metadata.creationTimestamp', 'date'),
    ],
    schema: () => httpObjectSchema,
  },
];

function column(name: string, jsonPath: string, type = 'string'): JsonObject {
  return { name, jsonPath, type };
}

function condition(type: string, field: string): JsonObject {
  return column(type, `.status.conditions[?(@.type=="${type}")].${field}`);
}
