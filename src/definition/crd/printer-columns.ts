import type { Json, JsonObject } from '../../util/json.ts';
import { fieldOf } from '../tree.ts';

const standardColumns = [
  {
    name: 'Ready',
    type: 'string',
    jsonPath: '.status.conditions[?(@.type=="Ready")].status',
  },
  {
    name: 'Reason',
    type: 'string',
    jsonPath: '.status.conditions[?(@.type=="Ready")].reason',
  },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
] as const satisfies readonly JsonObject[];

/** The author's columns, then `Ready`, `Reason` and `Age` unless the author has one of that name. */
export function withStandardColumns(authored: readonly Json[]): readonly Json[] {
  const taken = new Set(authored.map((column) => String(fieldOf(column, 'name')).toLowerCase()));
  return [...authored, ...standardColumns.filter(({ name }) => !taken.has(name.toLowerCase()))];
}
