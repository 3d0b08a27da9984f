import type { EventFault, Fault, RequestFault } from './fault.ts';
import { InjectedFault } from './injected-fault.ts';
import type { ProxiedRequest } from './proxied-request.ts';

/** The faults at work, in the order in which they were injected: the first that takes a request or event has it. */
export class FaultList {
  readonly #faults = new Set<InjectedFault>();
  readonly #spares: (request: ProxiedRequest) => boolean;

  /** No fault meets a request that `spares` is true of, nor the events of such a watch. */
  constructor(spares: (request: ProxiedRequest) => boolean = () => false) {
    this.#spares = spares;
  }

  add<T extends Fault>(fault: T): InjectedFault<T> {
    const injected = new InjectedFault(fault);
    const entry = injected as unknown as InjectedFault;
    this.#faults.add(entry);
    injected.removed.addEventListener('abort', () => this.#faults.delete(entry), { once: true });
    return injected;
  }

  clear(): void {
    for (const injected of this.#faults) injected.remove();
  }

  forRequest(request: ProxiedRequest): InjectedFault<RequestFault> | undefined {
    if (this.#spares(request)) return undefined;
    for (const injected of this.#faults) {
      if (isOn(injected, 'request') && injected.takes(request)) return injected;
    }
    return undefined;
  }

  forEvent(request: ProxiedRequest): InjectedFault<EventFault> | undefined {
    if (this.#spares(request)) return undefined;
    for (const injected of this.#faults) {
      if (isOn(injected, 'event') && injected.takes(request)) return injected;
    }
    return undefined;
  }
}

function isOn<K extends Fault['on']>(
  injected: InjectedFault,
  on: K,
): injected is InjectedFault<Extract<Fault, { on: K }>> {
  return injected.fault.on === on;
}
