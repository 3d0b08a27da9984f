import type { SchemaCompiler } from './schema-compiler.ts';
import type { JsonSchema } from './schema-node.ts';
import type { SchemaType } from './schema-type.ts';

const version = {
  type: 'object',
  properties: {
    read: { type: 'string', description: 'Id of the read.' },
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    namespace: { type: 'string' },
    name: { type: 'string' },
    version: { type: 'integer', description: 'From 1 on.' },
    time: { type: 'string', description: 'When the state was recorded.' },
    reason: { type: 'string', enum: ['Changed', 'Deleted'], description: 'What ended the state.' },
    object: { type: 'object', description: 'The object in this state, without its status.' },
  },
};

/** The schema of `history` in expressions: a list of versions. */
export const historySchema: JsonSchema = { type: 'array', items: version };

/** Whether an entry of `history` has this field. */
export function isHistoryField(name: string): boolean {
  return Object.hasOwn(version.properties, name);
}

/** The root of expressions in a definition that keeps versions: the resource, with `history`. */
export function withHistory(resource: SchemaType, compiler: SchemaCompiler): SchemaType {
  if (resource.kind !== 'struct') return resource;
  const type = compiler.compile({ root: 'history', components: { history: historySchema } });
  const fields = new Map(resource.fields).set('history', { type, keepsNull: false });
  return { ...resource, fields };
}
