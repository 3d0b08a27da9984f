import {
  type ConversionRules,
  createObjectCheck,
  type ObjectCheck,
  type ObjectProblem,
  readRules,
  versionsOfCrd,
} from '#conversion';
import { conversionYaml } from '#definition';
import { settled } from '#reconcile';
import type { JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { conversionsAnnotation } from '#util/stored-names.ts';
import type { CrdContext } from '../crd-definition.ts';
import { servedIn } from './crd-parts.ts';

/** After this time, in ms, other work of this process continues. */
const sliceMs = 20;

interface Change {
  readonly rules: ConversionRules;
  /** As it is served now. */
  readonly live: KubeObject;
}

/**
 * Converts every stored resource by rules that the API server does not use yet, in this process: to each version that will be served, and back. So
 * clients never see rules that fail for one of them. Sends nothing but a list.
 * @returns why the rules must not be used
 * @throws KubeError when the resources cannot be read
 */
export async function whyNotConvertible(
  { cluster, definition, clock }: CrdContext,
  { rules, live }: Change,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { gvk, crd } = definition.kind;
  const { storage } = versionsOfCrd(live);
  const { schemas } = versionsOfCrd(crd);
  const served = servedIn(live);
  // Without one of these, nothing can be read as it is stored.
  if (storage === undefined || !served.includes(storage) || !schemas.has(storage)) return undefined;
  const stored = { ...gvk, version: storage };
  if ((await cluster.lookUp(stored, signal)) === undefined) return undefined;
  const check = createObjectCheck({ rules, schemas, yaml: conversionYaml, storage });
  const before = checkOf(live, storage);
  const others = servedIn(crd).filter((version) => version !== storage);
  const informer = cluster.acquire({ gvk: stored });
  try {
    await settled(informer, signal);
    if (informer.state.kind === 'failing') throw informer.state.error;
    let sinceMs = clock.monotonicMs();
    for (const { object } of [...informer.list()]) {
      if (clock.monotonicMs() - sinceMs >= sliceMs) {
        await clock.sleep(0, signal);
        sinceMs = clock.monotonicMs();
      }
      for (const version of others) {
        const problem = check(object as KubeObject & JsonObject, version);
        if (problem === undefined || isNoLoss(problem, object, version)) continue;
        return `${gvk.kind} "${nameOf(object)}" cannot be converted to version "${version}" by them: ${problem.message}`;
      }
    }
    return undefined;
  } finally {
    informer.release();
  }

  /**
   * A new version may be read without all fields. In one that clients use already, an object that has the problem by the rules of now,
   * too, loses nothing: its author could keep all rules from being changed.
   */
  function isNoLoss({ kind }: ObjectProblem, object: KubeObject, version: string): boolean {
    if (!served.includes(version)) return kind === 'large';
    const was = before?.(object as KubeObject & JsonObject, version)?.kind;
    return was === kind || (was !== undefined && kind === 'large');
  }
}

/** By the rules that are used now. Undefined: there are none. */
function checkOf(live: KubeObject, storage: string): ObjectCheck | undefined {
  const stored = readRules(live.metadata.annotations?.[conversionsAnnotation] ?? '');
  const rules = stored?.byDigest.get(stored.current);
  const { schemas } = versionsOfCrd(live);
  return rules && createObjectCheck({ rules, schemas, yaml: conversionYaml, storage });
}

function nameOf({ metadata: { namespace, name } }: KubeObject): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}
