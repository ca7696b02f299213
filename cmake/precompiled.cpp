// SPDX-License-Identifier: Apache-2.0
// Nothing: a target of CMake has a source, and what this one is for are its headers (precompiled.cmake).
