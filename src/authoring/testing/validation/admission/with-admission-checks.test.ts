import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createManifestCheck, type ManifestCheck } from '#check';
import { withAdmissionChecks } from './with-admission-checks.ts';

function text(name: string, rule?: string): string {
  const admission =
    rule === undefined
      ? ''
      : `  admission:
    rules:
      - rule: ${JSON.stringify(rule)}
        message: Too big
`;
  return `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: ${name} }
spec:
  crd:
    group: ${name}.example.com
    names: { kind: Web, plural: webs }
    scope: Namespaced
    versions:
      - name: v1
        schema:
          openAPIV3Schema:
            type: object
            properties: { spec: { type: object, properties: { size: { type: integer } } } }
${admission}`;
}

function checked(check: ManifestCheck, ...texts: readonly string[]) {
  const { documents, diagnostics } = check({ file: 'web.yaml', text: texts.join('---\n') });
  return {
    isAccepted: documents.map(({ plan }) => plan !== undefined),
    found: diagnostics.map(({ line, column, severity, message }) => [
      line,
      column,
      severity,
      message,
    ]),
  };
}

describe('testing/with-admission-checks', () => {
  test('a rule without a guard rejects its definition with line and column, and no other one', () => {
    const { check, close } = withAdmissionChecks(createManifestCheck(undefined));
    const guarded =
      "'big' in object.metadata.?labels.orValue({}) || object.?spec.?size.orValue(1) < 9";
    const { isAccepted, found } = checked(
      check,
      text('a', guarded),
      text('b', "'big' in object.metadata.?labels.orValue({}) || object.spec.size < 9"),
      text('c'),
    );
    close();
    assert.deepEqual(isAccepted, [true, false, true]);
    assert.deepEqual(found, [
      [36, 71, 'error', '"object.spec" may be missing'],
      [36, 76, 'error', '"object.spec.size" may be missing'],
    ]);
  });

  test('without admission, the result is that of the check itself', () => {
    const plain = createManifestCheck(undefined);
    const results: unknown[] = [];
    const { check, close } = withAdmissionChecks((manifest) => {
      const result = plain(manifest);
      results.push(result);
      return result;
    });
    assert.equal(check({ file: 'web.yaml', text: text('a') }), results[0]);
    close();
  });
});
