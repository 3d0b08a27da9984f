import type { SharedControlPlane } from '../control-plane/index.ts';
import { locate } from '../planned-writes.ts';
import type { RecipePage } from './recipe-page.ts';

/** Waits until the API server serves every version that `conversions` of a page name. Returns at once for a definition without them. */
export async function untilServed(
  shared: SharedControlPlane,
  { definition: text }: RecipePage,
): Promise<void> {
  const { conversions, kind } = locate(text).definition;
  if (conversions === undefined || kind.source !== 'crd') return;
  const client = shared.client();
  const { group, kind: name } = kind.gvk;
  for (const version of [conversions.hub, ...conversions.versions.map((each) => each.version)]) {
    await client.untilList(`/apis/${group}/${version}/${kind.plural}`, () => true);
    // kubectl finds kinds by discovery, which lists a version later.
    await client.pathOf({
      apiVersion: `${group}/${version}`,
      kind: name,
      metadata: { name: 'any' },
    });
  }
}
