//! hello.rs - traces from Rust, through the library and the bindings that bindgen makes of the header
//!
//!     bindgen gotrace.h -o gotrace.rs --allowlist-function 'gotrace_.*' -- -DGOTRACE_CALL_SITES=0
//!     rustc hello.rs -l gotrace && ./hello hello.trace
//!
//! The names with _at are the functions behind the macros of gotrace.h. Each takes the place of the call, or null.
#[allow(non_camel_case_types, non_snake_case, non_upper_case_globals, dead_code)]
mod gotrace {
    include!("gotrace.rs");
}
use gotrace::*;
use std::ffi::{CStr, CString};

const NO_TASK: gotrace_task = gotrace_task { id: 0 };

/// The caller's place, as the stack of an event.
macro_rules! place {
    ($function:expr) => {
        gotrace_site_make(text(concat!($function, "\0")), text(concat!(file!(), "\0")), line!())
    };
}

fn text(with_nul: &'static str) -> *const std::os::raw::c_char {
    CStr::from_bytes_with_nul(with_nul.as_bytes()).unwrap().as_ptr()
}

fn main() {
    let path = CString::new(std::env::args().nth(1).expect("usage: hello FILE")).unwrap();
    unsafe {
        let result = gotrace_start_file(path.as_ptr(), std::ptr::null());
        if result != gotrace_result_GOTRACE_OK {
            panic!("{}", CStr::from_ptr(gotrace_result_string(result)).to_string_lossy());
        }
        gotrace_region_begin_at(place!("main"), NO_TASK, text("greet\0"), 1); // 1: the name is constant
        gotrace_log_at(place!("main"), NO_TASK, text("greeting\0"), text("hello, world\0"));
        gotrace_region_end_at(place!("main"), NO_TASK, text("greet\0"), 1);
        std::process::exit(gotrace_stop() as i32);
    }
}
