import type { KubeObject } from '../../util/kube-object.ts';
import type { DefinitionView } from '../definition-view.ts';
import type { DefinitionOrigin, Refusal, WantedDefinition } from '../wanted-definition.ts';
import type { Idle, ToldDefinition } from './told-definitions.ts';

/** All that the status of one definition is made of. */
export interface DefinitionFacts {
  /** Where the text stands that the object shows. */
  readonly origin: DefinitionOrigin;
  /** What runs of that text, or is to run. Undefined: nothing. */
  readonly wanted: WantedDefinition | undefined;
  /** Why the newest text is not taken, whoever says so: the sources, or the cluster. */
  readonly refusal: Refusal | undefined;
  /** Why nothing is run of the object at all. Undefined: it is. */
  readonly idle: Idle | undefined;
  /** Where what runs stands now. Undefined: nothing runs under this name, or what does has another text. */
  readonly view: DefinitionView | undefined;
  readonly isPaused: boolean;
  readonly isTerminating: boolean;
}

/** Puts together what the sources, the manager and the object say. Pure. */
export function factsOf(
  told: ToldDefinition,
  views: ReadonlyMap<string, DefinitionView>,
  object: KubeObject | undefined,
): DefinitionFacts {
  const { origin, wanted, refused, idle } = told;
  const view = wanted === undefined ? undefined : views.get(told.name);
  return {
    origin,
    wanted,
    refusal: wanted?.refusal ?? refused?.refusal ?? view?.refusal ?? refusalOfState(view),
    idle,
    view,
    isPaused: wanted?.isPaused === true,
    isTerminating:
      wanted?.removal !== undefined || object?.metadata.deletionTimestamp !== undefined,
  };
}

/** What the cluster says against it: a CRD of somebody else, say. */
function refusalOfState(view: DefinitionView | undefined): Refusal | undefined {
  if (view?.state.kind !== 'refused') return undefined;
  const { message, diagnostics } = view.state;
  return { revision: view.revision, message, diagnostics };
}
