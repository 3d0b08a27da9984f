import { builtinDocuments } from '../../src/compile/index.ts';
import { parseYaml } from '../../src/definition/index.ts';
import { createSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/index.ts';
import { createSystemClock } from '../../src/util/clock.ts';
import { createSystemRandom } from '../../src/util/random.ts';

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
