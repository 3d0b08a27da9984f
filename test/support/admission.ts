import { isJsonObject, type JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { PlaneAnswer, SharedControlPlane } from './control-plane/index.ts';
import { thing, thingDefinition } from './definitions.ts';
import { patienceMs } from './patience.ts';

const group = '/apis/admissionregistration.k8s.io/v1';

/** Where the API serves the policy of the rules of a definition. */
export function policyPath(name: string): string {
  return `${group}/validatingadmissionpolicies/${name}.homeostat.dev`;
}

export function bindingPath(name: string): string {
  return `${group}/validatingadmissionpolicybindings/${name}.homeostat.dev`;
}

/** Where the API serves the policy of the defaults of a definition. */
export function defaultsPath(name: string): string {
  return `${group}/mutatingadmissionpolicies/${name}.homeostat.dev`;
}

export const ruledSchema = `
            type: object
            properties:
              spec: { type: object, properties: { size: { type: integer }, text: { type: string } } }
              my-field: { type: string }
              in: { type: string }
        subresources: { scale: { specReplicasPath: .spec.size, statusReplicasPath: .status.size } }`;

/** A rule that denies a size above ten without a label. */
export const smallRule = `
      - rule: "object.?spec.?size.orValue(1) <= 10 || 'big' in object.metadata.?labels.orValue({})"
        field: spec.size
        message: More than 10 need the label "big"`;

/** A rule that denies the deletion of what has an annotation. */
export const keepRule = `
      - operations: [Delete]
        rule: "oldObject.metadata.?annotations[?'keep'].orValue('') != 'true'"
        message: Remove the annotation "keep" first`;

/** A definition with these rules, and further fields of `admission` and of `spec`. */
export function ruled(name: string, rules: string, { admission = '', spec = '' } = {}): string {
  const body = rules === '' ? '' : `  admission:\n    rules:${rules}\n${admission}`;
  return thingDefinition(name, `${body}${spec}`, { schema: ruledSchema });
}

export function isDenied({ status }: PlaneAnswer): boolean {
  return status === 422 || status === 403;
}

export function messageOf({ body }: PlaneAnswer): string {
  return isJsonObject(body as JsonObject) ? String((body as JsonObject).message) : '';
}

/** Waits until a server enforces policies: it takes a changed one a moment later. */
export function useAdmission(shared: SharedControlPlane) {
  /** Dry-runs an apply until the answer is as expected. */
  async function untilAnswer(
    object: KubeObject,
    isExpected: (answer: PlaneAnswer) => boolean,
  ): Promise<PlaneAnswer> {
    const client = shared.client();
    const path = `${await client.pathOf(object)}?fieldManager=test&dryRun=All`;
    const deadline = performance.now() + patienceMs;
    for (;;) {
      const answer = await client.request({
        method: 'PATCH',
        path,
        body: object,
        contentType: 'application/apply-patch+yaml',
      });
      if (isExpected(answer)) return answer;
      if (performance.now() > deadline)
        throw new Error(`Found ${answer.status} ${JSON.stringify(answer.body)}`);
      await client.sleep(50);
    }
  }

  return {
    untilAnswer,
    /** Until a Thing of this size is rejected. */
    untilEnforced: (name: string, namespace: string, size = 11) =>
      untilAnswer(thing(name, namespace, { size }, 'probe'), isDenied),
    untilPermitted: (name: string, namespace: string, size = 11) =>
      untilAnswer(thing(name, namespace, { size }, 'probe'), ({ status }) => status < 300),
  };
}
