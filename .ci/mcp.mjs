// Holds our door of the Model Context Protocol against the official clients, the conformance suite
// and the inspector, which need the current Node.
import { testWithLibraries } from './libraries.mjs';
import { runtimeFor } from './runtime.mjs';

process.env.MCP_NODE = runtimeFor(`${process.platform}-${process.arch}`);
testWithLibraries([
  '@modelcontextprotocol/client@2', '@modelcontextprotocol/sdk@1',
  '@modelcontextprotocol/conformance@0.2.0-alpha.12', '@modelcontextprotocol/inspector@2.12.0',
], 'test/e2e/mcp-clients.test.ts', 'MCP_FOLDER');
