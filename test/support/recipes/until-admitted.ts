import { parseObjects } from '#dev/samples.ts';
import { isJsonObject, type Json } from '#util/json.ts';
import type { SharedControlPlane } from '../control-plane/index.ts';
import { isReady } from '../installing.ts';
import { locate } from '../planned-writes.ts';
import type { RecipePage } from './recipe-page.ts';

/** Kubernetes serves the policies of defaults since this release. */
export const defaultsSince = '1.36';

/** Whether the definition of a page has defaults that the API server sets. */
export function hasDefaults({ definition }: RecipePage): boolean {
  return (locate(definition).definition.admission?.defaults.length ?? 0) > 0;
}

/**
 * Waits until the API server enforces the admission policies of a page: they are written, and its sample gets the first default in a dry run.
 * Returns at once for a definition without `admission`.
 */
export async function untilAdmitted(
  shared: SharedControlPlane,
  { definition: text, sample }: RecipePage,
): Promise<void> {
  const { name, admission, kind } = locate(text).definition;
  if (admission === undefined) return;
  const client = shared.client();
  await client.untilObject(`/apis/homeostat.dev/v1alpha1/operatordefinitions/${name}`, (object) =>
    isReady(object),
  );
  const [first] = admission.defaults;
  const resource = parseObjects(sample).find((object) => object.kind === kind.gvk.kind);
  if (first === undefined || resource === undefined) return;
  const namespace = resource.metadata.namespace ?? 'default';
  const object = { ...resource, metadata: { ...resource.metadata, namespace } };
  const path = (await client.pathOf(object)).replace(/\/[^/]+$/, '');
  for (;;) {
    const { body } = await client.request({
      method: 'POST',
      path: `${path}?dryRun=All`,
      body: object,
    });
    if (valueAt(body as Json, first.steps) !== undefined) return;
    await client.sleep(100);
  }
}

function valueAt(object: Json, steps: readonly string[]): Json | undefined {
  let value: Json | undefined = object;
  for (const step of steps) value = isJsonObject(value) ? value[step] : undefined;
  return value;
}
