import type { OperatorDefinition } from '../../definition/index.ts';
import { didYouMean } from '../../util/did-you-mean.ts';
import { pointerTo } from '../../util/json-pointer.ts';
import type { Diagnostics } from '../diagnostics.ts';
import type { StructType } from '../schema/schema-type.ts';

/** Status fields that the resource's schema does not have: the server would drop them without a word. */
export function checkStatus(
  { status }: OperatorDefinition,
  fields: StructType | undefined,
  diagnostics: Diagnostics,
): void {
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
