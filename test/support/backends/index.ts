export type {
  Backend,
  BackendAnswer,
  BackendRequest,
  BackendWatch,
} from './backend.ts';
export {
  createTestSandbox,
  type SandboxBackendOptions,
  sandboxBackend,
} from './sandbox-backend.ts';
export { sandboxSchemas } from './sandbox-schemas.ts';
export { serverBackend } from './server-backend.ts';
