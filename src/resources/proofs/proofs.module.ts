// Proofs: what the checks of a task said, signed, so that others can verify it elsewhere (reference §26).
import { Module } from '@nestjs/common';
import { KeySetController } from './key-set.controller.js';
import { Proofs } from './proofs.js';
import { TaskProofController } from './task-proof.controller.js';
import { SigningKeys } from './signing-keys.js';

@Module({ controllers: [KeySetController, TaskProofController], providers: [Proofs, SigningKeys], exports: [Proofs] })
export class ProofsModule {}
