//! Which symbols the CUDA stub needs, and the C file that provides them.

use std::fmt::Write;

/// The `cu…` functions that a file of bindgen's Rust output declares, in its order.
pub fn symbols(bindings: &str) -> Vec<String> {
    bindings
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("pub fn cu"))
        .filter_map(|rest| rest.split_once('('))
        .map(|(name, _)| format!("cu{name}"))
        .filter(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
        .collect()
}

/// A C file that defines each of `symbols` as a jump into `libcuda.so.1`, which the first call loads.
///
/// Without that library a call returns `CUDA_ERROR_STUB_LIBRARY`; a symbol that an older driver lacks
/// returns `CUDA_ERROR_NOT_FOUND`; the two functions that name errors then give a text, since callers
/// print it.
pub fn c_source(symbols: &[String]) -> String {
    let mut text = String::from(HEAD);
    let _ = writeln!(text, "#define COUNT {}", symbols.len().max(1));
    text.push_str("static const char *const names[COUNT] = {\n");
    for name in symbols {
        let _ = writeln!(text, "    \"{name}\",");
    }
    text.push_str("};\n");
    text.push_str(RESOLVE);
    text.push_str("__asm__(\n");
    for (index, name) in symbols.iter().enumerate() {
        let _ = writeln!(text, "    \"JUMP {name} {index}\\n\"");
    }
    text.push_str("    \".text\\n\");\n");
    text
}

const HEAD: &str = r#"/* Made by `cargo xtask cuda-stub`; do not edit. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>
"#;

/// The slots start empty. A jump finds its slot empty, has the symbol looked up with every argument
/// register saved, and goes on as if nothing had happened; r11 is the one register that the calling
/// convention gives to such code. Two threads that meet here write the same address.
const RESOLVE: &str = r#"
__attribute__((visibility("hidden"))) void *warpheap_cuda_slots[COUNT];

static int no_driver(void) { return 34; /* CUDA_ERROR_STUB_LIBRARY */ }
static int no_symbol(void) { return 500; /* CUDA_ERROR_NOT_FOUND */ }
static int no_driver_text(int code, const char **text) {
    (void)code;
    if (text)
        *text = "no NVIDIA driver: libcuda.so.1 cannot be loaded";
    return 0;
}

__attribute__((visibility("hidden"), used)) void *warpheap_cuda_resolve(size_t index) {
    const char *name = names[index];
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    void *target = driver ? dlsym(driver, name) : NULL;
    if (!target) {
        if (driver)
            target = (void *)no_symbol;
        else if (!strcmp(name, "cuGetErrorString") || !strcmp(name, "cuGetErrorName"))
            target = (void *)no_driver_text;
        else
            target = (void *)no_driver;
    }
    __atomic_store_n(&warpheap_cuda_slots[index], target, __ATOMIC_RELEASE);
    return target;
}

__asm__(
    ".text\n"
    ".p2align 4\n"
    "warpheap_cuda_lazy:\n"
    "    push %rbp\n"
    "    mov %rsp, %rbp\n"
    "    and $-16, %rsp\n"
    "    sub $192, %rsp\n"
    "    mov %rdi, 0(%rsp)\n"
    "    mov %rsi, 8(%rsp)\n"
    "    mov %rdx, 16(%rsp)\n"
    "    mov %rcx, 24(%rsp)\n"
    "    mov %r8, 32(%rsp)\n"
    "    mov %r9, 40(%rsp)\n"
    "    mov %rax, 48(%rsp)\n"
    "    movups %xmm0, 64(%rsp)\n"
    "    movups %xmm1, 80(%rsp)\n"
    "    movups %xmm2, 96(%rsp)\n"
    "    movups %xmm3, 112(%rsp)\n"
    "    movups %xmm4, 128(%rsp)\n"
    "    movups %xmm5, 144(%rsp)\n"
    "    movups %xmm6, 160(%rsp)\n"
    "    movups %xmm7, 176(%rsp)\n"
    "    mov %r11, %rdi\n"
    "    call warpheap_cuda_resolve\n"
    "    mov %rax, %r11\n"
    "    mov 0(%rsp), %rdi\n"
    "    mov 8(%rsp), %rsi\n"
    "    mov 16(%rsp), %rdx\n"
    "    mov 24(%rsp), %rcx\n"
    "    mov 32(%rsp), %r8\n"
    "    mov 40(%rsp), %r9\n"
    "    mov 48(%rsp), %rax\n"
    "    movups 64(%rsp), %xmm0\n"
    "    movups 80(%rsp), %xmm1\n"
    "    movups 96(%rsp), %xmm2\n"
    "    movups 112(%rsp), %xmm3\n"
    "    movups 128(%rsp), %xmm4\n"
    "    movups 144(%rsp), %xmm5\n"
    "    movups 160(%rsp), %xmm6\n"
    "    movups 176(%rsp), %xmm7\n"
    "    leave\n"
    "    jmp *%r11\n"
    ".macro JUMP name index\n"
    ".globl \\name\n"
    ".type \\name, @function\n"
    ".p2align 4\n"
    "\\name:\n"
    "    mov warpheap_cuda_slots+8*\\index(%rip), %r11\n"
    "    test %r11, %r11\n"
    "    jz 1f\n"
    "    jmp *%r11\n"
    "1:  mov $\\index, %r11d\n"
    "    jmp warpheap_cuda_lazy\n"
    ".size \\name, .-\\name\n"
    ".endm\n");

"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_are_functions_named_cu_and_nothing_else() {
        let bindings = "\
pub struct CUctx_st { pub fn_: CUhostFn }
extern \"C\" {
    pub fn cuInit(Flags: u32) -> CUresult;
}
extern \"C\" {
    pub fn cuMemAlloc_v2(
        dptr: *mut CUdeviceptr,
    ) -> CUresult;
}
fn cudaLike() {}
    pub fn curious<T>(x: T) {}
";
        assert_eq!(symbols(bindings), ["cuInit", "cuMemAlloc_v2"]);
    }

    #[test]
    fn every_symbol_gets_a_name_and_a_jump_with_the_same_index() {
        let text = c_source(&["cuA".into(), "cuB".into()]);
        assert!(text.contains("#define COUNT 2"));
        assert!(text.contains("\"cuA\",\n    \"cuB\","));
        assert!(text.contains("JUMP cuA 0") && text.contains("JUMP cuB 1"));
    }
}
