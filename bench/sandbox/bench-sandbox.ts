import { builtinDocuments } from '#compile';
import { parseYaml } from '#definition';
import { createSandbox, type Sandbox, type SandboxOptions } from '#sandbox';
import { createSystemClock } from '#util/clock.ts';
import { createSystemRandom } from '#util/random.ts';

/** A sandbox that fails loudly. */
export function benchSandbox(
  options: Pick<SandboxOptions, 'controllers' | 'basePath'> = {},
): Sandbox {
  const { kubernetesVersion, ...schemas } = builtinDocuments();
  return createSandbox({
    clock: createSystemClock(),
    random: createSystemRandom(),
    schemas,
    kubernetesVersion,
    parseYaml,
    onInternalError(error) {
      throw error;
    },
    ...options,
  });
}
