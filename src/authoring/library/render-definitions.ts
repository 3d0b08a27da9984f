import { renderResource } from '#render';
import type { Definitions, KubeObject, RenderOptions, RenderResult } from './api.ts';
import { oneObject } from './given-objects.ts';
import { sourcesOf } from './source-files.ts';

/** Renders a resource as `homeostat render`. @throws Error if the resource is not one object */
export async function renderDefinitions(
  definitions: Definitions,
  resource: KubeObject | string,
  { with: given = [], simulate = true }: RenderOptions = {},
): Promise<RenderResult> {
  const { children, missing, status, problem, diagnostics } = await renderResource({
    definitions: sourcesOf(definitions),
    resource: oneObject(resource),
    given,
    simulatesControllers: simulate,
  });
  return {
    children: children.map(({ child, waitsFor, manifest, cluster }) => ({
      child,
      waitsFor,
      manifest,
      ...(cluster !== undefined && { cluster }),
    })),
    missing,
    ...(status !== undefined && { status }),
    ...(problem !== undefined && { problem }),
    diagnostics,
  };
}
