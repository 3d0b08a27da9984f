import type { OperatorDefinition } from '../../definition/index.ts';
import { didYouMean } from '../../util/did-you-mean.ts';
import { pointerTo } from '../../util/json-pointer.ts';
import type { Diagnostics } from '../diagnostics.ts';
import type { KindTypes } from '../kind-types.ts';
import type { SchemaType } from '../schema/schema-type.ts';

/** Status fields that the resource's schema does not have: the server would drop them without a word. */
export function checkStatus(
  { status }: OperatorDefinition,
  { resource, statusFields: fields }: Pick<KindTypes, 'resource' | 'statusFields'>,
  diagnostics: Diagnostics,
): void {
  if (hasNoStatus(resource)) {
    for (const name of Object.keys(status)) {
      const message = `The kind has no status, so that "status.${name}" cannot be written`;
      const path = pointerTo('/spec/status', name);
      diagnostics.report({ code: 'unknown-path', message, path, at: 'key' });
    }
    return;
  }
  if (fields === undefined || fields.open) return;
  for (const name of Object.keys(status)) {
    if (fields.fields.has(name)) continue;
    diagnostics.report({
      code: 'unknown-path',
      message: `Unknown field "status.${name}"`,
      hint:
        didYouMean(name, fields.fields.keys()) ?? 'Add it to the status in the schema of the CRD',
      path: pointerTo('/spec/status', name),
      at: 'key',
    });
  }
}

/** A ConfigMap, say: an operator may be `for` it. */
function hasNoStatus(resource: SchemaType): boolean {
  return resource.kind === 'struct' && !resource.open && !resource.fields.has('status');
}
