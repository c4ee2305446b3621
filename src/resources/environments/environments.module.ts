// Environments: named descriptions of the box that tasks work in. They are kept and changed here; `work/environments` builds them.
import { Module } from '@nestjs/common';

@Module({})
export class EnvironmentsModule {}
