import type { KubeObject } from '../kube-object.ts';
import { conditionOf, conditionText } from './status-reader.ts';
import { failed, progressing, type Readiness, ready } from './verdict.ts';

export function crdReadiness(object: KubeObject): Readiness {
  const names = conditionOf(object, 'NamesAccepted');
  if (names?.status === 'False') return failed(conditionText(names));
  const established = conditionOf(object, 'Established');
  if (established?.status === 'True') return ready('Established');
  if (established?.status === 'False' && established.reason !== 'Installing')
    return failed(conditionText(established));
  return progressing('The kind is not established yet');
}

export function apiServiceReadiness(object: KubeObject): Readiness {
  const available = conditionOf(object, 'Available');
  if (available?.status === 'True') return ready('Available');
  return progressing(available ? conditionText(available) : 'Availability is not known yet');
}

/** Kinds without a rule of their own: what the object says of itself. */
export function conditionReadiness(object: KubeObject): Readiness {
  const condition = conditionOf(object, 'Ready');
  if (condition === undefined) return ready('Current');
  return condition.status === 'True' ? ready('Ready') : progressing(conditionText(condition));
}
