import { before } from 'node:test';
import { parseYaml } from '#definition';
import type { KubeObject } from '#util/kube-object.ts';
import { isEstablished, type SharedControlPlane } from './control-plane/index.ts';
import type { LaunchOptions } from './homeostat.ts';
import type { HomeostatRuntime } from './homeostat-runtime.ts';
import { hasReason, isReady } from './installing.ts';

const collection = '/apis/homeostat.dev/v1alpha1/operatordefinitions';
const definitionsCrd =
  '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/operatordefinitions.homeostat.dev';

/** Where the API serves a definition. */
export function definitionPath(name: string): string {
  return `${collection}/${name}`;
}

/** A runtime that takes definitions from objects and from a folder, for tests of what a definition has itself. Inside of a `describe`. */
export function useDefinitionObjects(
  shared: SharedControlPlane,
  launch: (options?: LaunchOptions) => HomeostatRuntime,
) {
  let homeostat: HomeostatRuntime;

  before(async () => {
    homeostat = await begin();
    await shared.client().untilObject(definitionsCrd, isEstablished);
    await shared.client().untilList(collection, () => true);
  });

  /** Starts a runtime in place of one that has stopped. */
  async function begin(): Promise<HomeostatRuntime> {
    homeostat = launch({
      definitions: { 'none.txt': '' },
      flags: ['--sources', 'directories,objects', '--withdraw-after', '2s'],
    });
    await homeostat.whenLogged('Starting');
    return homeostat;
  }

  return {
    begin,
    /** The one that runs. */
    runtime: () => homeostat,
    apply: (text: string) => shared.client().apply(parseYaml(text) as unknown as KubeObject),
    untilReady: (name: string) => shared.client().untilObject(definitionPath(name), isReady),
    untilReason: (name: string, reason: string) =>
      shared.client().untilObject(definitionPath(name), (each) => hasReason(each, reason)),
  };
}
