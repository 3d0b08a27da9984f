import { objectField } from '../json-fields.ts';
import type { StoreEvent } from '../store/object-store.ts';
import { type ControllerClient, numberOf, partOf } from './controller-client.ts';

const collection = 'admissionregistration.k8s.io/validatingadmissionpolicies';

/** Reports in the status of a policy that its newest generation was checked. The types of its expressions are not. */
export class PolicyStatusController {
  readonly #client: ControllerClient;

  constructor(client: ControllerClient) {
    this.#client = client;
  }

  /** Subscribes to the store; returns the unsubscribe function. */
  start(): () => void {
    return this.#client.subscribe((event) => this.#onEvent(event));
  }

  #onEvent({ collection: changed, after, last }: StoreEvent): void {
    if (changed !== collection || after === undefined) return;
    const generation = numberOf(partOf(after, 'metadata'), 'generation', 0);
    if (numberOf(partOf(after, 'status'), 'observedGeneration', 0) >= generation) return;
    this.#client.updateStatus({ collection, key: last.key }, (policy) => {
      const status = objectField(policy, 'status') ?? {};
      return {
        ...policy,
        status: { ...status, observedGeneration: generation, typeChecking: {} },
      };
    });
  }
}
