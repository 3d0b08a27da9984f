export { KindSchemas } from './knowledge.ts';
export { type LanguageServerOptions, type SessionEnd, serveLanguage } from './language-server.ts';
