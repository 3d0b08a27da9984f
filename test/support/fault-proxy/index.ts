export { type EventAction, type Fault, matching, type RequestAction } from './fault.ts';
export { FaultProxy } from './fault-proxy.ts';
export type { InjectedFault } from './injected-fault.ts';
export {
  authorityCertificate,
  type ProxiedPlane,
  serverCertificate,
  startFaultProxy,
} from './proxied-plane.ts';
export type { ProxiedRequest } from './proxied-request.ts';
