export { KindSchemas } from './kind-schemas.ts';
export { type LanguageServerOptions, type SessionEnd, serveLanguage } from './language-server.ts';
