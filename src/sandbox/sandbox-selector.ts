import { Injectable } from '@nestjs/common';
import type { Sandbox } from './sandbox.js';

/** Holds the sandbox that the configuration chose. */
@Injectable()
export class SandboxSelector {
  current: Sandbox;
}
